/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Foreign frames to a tester port with addresses. What is answered has an answer with right
 * checksums that itself is never answered, so that two such ports cannot keep each other busy.
 */
#include "router/packet6.h"
#include "tester/responder_frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME_BYTES_MAX 2048

static const struct rte_ether_addr mac = {{0x02, 0x4c, 0x52, 0, 0, 0}};

static void add(struct host *host, const char *text, struct host_tags tags)
{
	struct host_address *own = &host->addresses[host->nb_addresses++];

	own->tags = tags;
	if (address_read_prefix(text, text + strlen(text), &own->address, &own->length) == NULL)
		abort();
}

static const struct host *our_host(void)
{
	static struct host host;

	if (host.nb_addresses > 0)
		return &host;
	host.mac = mac;
	add(&host, "100.64.1.2/30", (struct host_tags){0});
	add(&host, "fd00::2/64", (struct host_tags){0});
	add(&host, "10.0.10.2/24", (struct host_tags){10, 0});
	add(&host, "fd00:10::2/64", (struct host_tags){10, 0});
	add(&host, "10.0.20.2/24", (struct host_tags){10, 20});
	add(&host, "fd00:20::2/64", (struct host_tags){10, 20});
	return &host;
}

/* Another host with the same addresses, to whose MAC address the answer goes. */
static void check_answer(const struct host *host, const uint8_t *answer, unsigned bytes)
{
	struct host other = *host;
	struct host_heard heard;

	memcpy(&other.mac, answer, sizeof(other.mac));
	if (memcmp(answer + RTE_ETHER_ADDR_LEN, &host->mac, sizeof(host->mac)) != 0 ||
		bytes < HOST_FRAME_BYTES_MIN)
		abort();
	heard = host_read(&other, answer, bytes);
	if (host_is_request(heard.message))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct host *host = our_host();
	/* Buffers of the very size, so that each byte beyond is noticed. */
	unsigned bytes = (unsigned)RTE_MIN(size, (size_t)FRAME_BYTES_MAX);
	unsigned room = RTE_MAX(bytes, (unsigned)HOST_NEIGHBOR_BYTES_MAX);
	uint8_t *frame = malloc(bytes), *answer = malloc(room);
	struct host_heard heard;
	unsigned made;

	if (frame == NULL || answer == NULL)
		abort();
	memcpy(frame, data, bytes);
	heard = host_read(host, frame, bytes);
	if (host_is_request(heard.message)) {
		made = host_answer(host, &heard, frame, answer);
		if (made > room)
			abort();
		check_answer(host, answer, made);
	}
	free(frame);
	free(answer);
	return 0;
}
