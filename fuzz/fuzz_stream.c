/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream's JSON, and the frames that it makes. */
#include "tester/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[16384];
	struct rte_mbuf mbuf, *mbufs = &mbuf;
	struct config config;
	struct stream *stream;
	char *text = strndup((const char *)data, size);
	static FILE *nowhere;
	FILE *saved = stderr;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "we");
	/* Mistakes are printed; thousands a second are of no use. */
	stderr = nowhere;
	if (text != NULL && config_open_text(&config, "fuzz", text) == 0) {
		struct config_node root = config_root(&config);

		stream = stream_parse(&root);
		memset(&mbuf, 0, sizeof(mbuf));
		mbuf.buf_addr = frame;
		for (unsigned i = 0; stream != NULL && i < 3; i++)
			stream_fill(stream, &mbufs, 1);
		stream_free(stream);
		config_close(&config);
	}
	free(text);
	stderr = saved;
	return 0;
}
