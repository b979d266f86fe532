/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any filter on any frame: a line of text, and bytes after it. The compiled program lets pass what
 * libpcap's interpreter does; the frame may be in segments.
 */
#include "capture/capture_filter.h"
#include "eal.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_BYTES 256
#define FRAME_BYTES_MAX 1522

static struct rte_mempool *pool;

static void start(void)
{
	if (!eal_start("64", "--lcores=0"))
		exit(EXIT_FAILURE);
	pool = rte_pktmbuf_pool_create("frames", 15, 0, 0, 2048, SOCKET_ID_ANY);
	if (pool == NULL)
		exit(EXIT_FAILURE);
}

static bool passes(const char *text, const uint8_t *frame, unsigned bytes)
{
	struct pcap_pkthdr header = {.caplen = bytes, .len = bytes};
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program program;
	bool passed;

	if (dead == NULL || pcap_compile(dead, &program, text, 1, PCAP_NETMASK_UNKNOWN) != 0)
		abort();
	passed = pcap_offline_filter(&program, &header, frame) != 0;
	pcap_freecode(&program);
	pcap_close(dead);
	return passed;
}

static struct rte_mbuf *new_frame(const uint8_t *bytes, unsigned count, unsigned first)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), *rest = NULL;

	if (first < count)
		rest = rte_pktmbuf_alloc(pool);
	if (mbuf == NULL || (first < count && rest == NULL))
		abort();
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)RTE_MIN(first, count)), bytes,
		RTE_MIN(first, count));
	if (rest == NULL)
		return mbuf;
	memcpy(rte_pktmbuf_append(rest, (uint16_t)(count - first)), bytes + first, count - first);
	if (rte_pktmbuf_chain(mbuf, rest) != 0)
		abort();
	return mbuf;
}

static void check(struct capture_filter *filter, const char *text, const uint8_t *bytes,
	unsigned count, unsigned first)
{
	struct rte_mbuf *mbuf = new_frame(bytes, count, first);
	bool passed = passes(text, bytes, count);

	if (capture_filter_matches(filter, mbuf) != passed)
		abort();
	filter->compiled = NULL;
	if (capture_filter_matches(filter, mbuf) != passed)
		abort();
	rte_pktmbuf_free(mbuf);
}

/* Names would be looked up, which takes its time: no letters beside those of the language. */
static bool asks_for_names(const char *text)
{
	static const char *const words[] = {"host", "net", "gateway", "broadcast"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	char text[TEXT_BYTES], why[CAPTURE_WHY_BYTES];
	struct capture_filter filter;
	size_t length = end == NULL ? size : (size_t)(end - data), count;

	if (pool == NULL)
		start();
	if (length >= sizeof(text))
		return 0;
	memcpy(text, data, length);
	text[length] = '\0';
	if (asks_for_names(text) || !capture_filter_create(&filter, text, why))
		return 0;
	data += RTE_MIN(length + 1, size);
	size -= RTE_MIN(length + 1, size);
	count = RTE_MIN(size, (size_t)FRAME_BYTES_MAX);
	if (count > 0 && filter.program.bf_len > 0)
		check(&filter, text, data, (unsigned)count, data[0]);
	capture_filter_free(&filter);
	return 0;
}
