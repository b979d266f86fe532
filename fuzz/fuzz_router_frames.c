/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames into the router's graph. The input is a list of frames: port and what happens
 * before (1 byte), length (2 bytes, little endian), then as many bytes. After each input no
 * packet and no buffer may be unaccounted for.
 */
#include "harness.h"
#include "router_cli.h"

#define HAPPENS_PORT 1    /* e1 instead of e0 */
#define HAPPENS_SECOND 2  /* a second goes by */
#define HAPPENS_TX_FULL 4 /* the other port's ring is full from here on */
#define HAPPENS_WALK 8    /* the frames so far are worked on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t one_frame(const uint8_t *data, size_t size)
{
	static struct frame frame;
	unsigned port = data[0] & HAPPENS_PORT;
	size_t length = data[1] | (size_t)data[2] << 8;

	if (data[0] & HAPPENS_WALK)
		harness_walk();
	if (data[0] & HAPPENS_SECOND)
		harness_seconds(1.1);
	if (data[0] & HAPPENS_TX_FULL)
		harness_tx_full(!port, true);
	length = RTE_MIN(length % 1700, size - 3);
	memcpy(frame.bytes, data + 3, length);
	frame.length = (unsigned)length;
	harness_put(port, &frame);
	return 3 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	unsigned frames = 0;

	if (!started)
		harness_start(2, router_cli);
	started = true;
	while (size > 3 && frames++ < 64) {
		size_t used = one_frame(data, size);

		data += used;
		size -= used;
	}
	harness_walk();
	harness_tx_full(0, false);
	harness_tx_full(1, false);
	harness_flush();
	if (!harness_balanced() || harness_failures() != 0)
		abort();
	return 0;
}
