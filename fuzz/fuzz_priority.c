/* SPDX-License-Identifier: BSD-3-Clause */
/* The priority of any bytes: one of three, read within the frame; bytes that are cut off can only
 * make it normal. */
#include "handoff/priority.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = malloc(size + 1), *shorter;
	enum priority whole, cut;

	if (frame == NULL || size == 0 || size > 9000) {
		free(frame);
		return 0;
	}
	/* In memory of just its size. */
	shorter = malloc(size - 1 + (size == 1));
	memcpy(frame, data, size);
	whole = priority_of(frame, (unsigned)size);
	if (whole >= PRIORITIES)
		abort();
	if (shorter != NULL) {
		memcpy(shorter, data, size - 1);
		cut = priority_of(shorter, (unsigned)size - 1);
		if (cut != whole && cut != PRIORITY_NORMAL)
			abort();
	}
	free(shorter);
	free(frame);
	return 0;
}
