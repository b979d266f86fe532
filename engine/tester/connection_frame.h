/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet of a connection's template. The frame is kept with IPv4 addresses, the last 32 bits of
 * IPv6 addresses and the client's port zero; what they add to the checksums is added connection by
 * connection (RFC 1624, equation 3, of words that were 0). Sums are of 16-bit words as this machine
 * reads them: a one's complement sum is the same in either byte order.
 */
#ifndef LINERATE_CONNECTION_FRAME_H
#define LINERATE_CONNECTION_FRAME_H

#include "core/frame.h"
#include "inet_checksum.h"

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Without FCS. */
#define CONNECTION_FRAME_MIN 60
#define CONNECTION_FRAME_MAX (FRAME_BYTES_MAX - RTE_ETHER_CRC_LEN)
/* Block size in which frames are copied. */
#define CONNECTION_FRAME_BLOCK 64

enum connection_side {
	SIDE_CLIENT,
	SIDE_SERVER,
};
#define CONNECTION_SIDES 2

struct connection_packet {
	uint64_t gap_clocks; /* after the packet before it; of the first, after the start */
	const uint8_t *frame;
	uint16_t length; /* without FCS */
	uint8_t side;    /* enum connection_side: who sends it */
	bool udp;
	bool ip6;
	uint16_t l3_offset;
	uint16_t l4_offset;          /* of UDP or TCP; 0: none, or not the first fragment */
	uint16_t l4_checksum_offset; /* 0: none */
	/* Sum of all words that do not differ between connections; folded. The first is 0 for
	 * IPv6. */
	uint16_t l3_sum, l4_sum;
};
_Static_assert(sizeof(struct connection_packet) == 32, "two share a line");

/* The first 96 bits of clients' and of servers' IPv6 addresses; the rest is as in IPv4. */
struct connection_prefixes {
	uint8_t of[CONNECTION_SIDES][12];
};

/* The parts of a connection that its frames differ by; network order. */
struct connection_words {
	uint32_t client, server;
	uint16_t port;
	uint16_t l3_sum, l4_sum; /* of the addresses; of them and the port: folded */
};

/* Network order. */
static inline void connection_words_set(
	struct connection_words *words, uint32_t client, uint32_t server, uint16_t port)
{
	words->client = client;
	words->server = server;
	words->port = port;
	words->l3_sum = inet_checksum_fold((uint64_t)client + server);
	words->l4_sum = inet_checksum_fold((uint64_t)words->l3_sum + port);
}

/*
 * Reads a frame of `length` bytes (without FCS) in `frame`, which has room for
 * CONNECTION_FRAME_MIN at least and is padded to that: where its headers are. Puts its checksums
 * right (that of a fragment or of a cut segment cannot be, and is only brought along), makes
 * addresses and the client's port zero, and writes the prefixes of IPv6 addresses. Of a UDP
 * datagram without a checksum it stays away, but over IPv6, where there must be one (RFC 8200).
 * packet->side is set. Returns NULL, or what was expected instead.
 */
const char *connection_frame_read(struct connection_packet *packet, uint8_t *frame, unsigned length,
	const struct connection_prefixes *prefixes);

static __rte_always_inline void connection_fill(const struct connection_packet *packet,
	const struct connection_words *words, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *), *l3 = frame + packet->l3_offset;
	bool client = packet->side == SIDE_CLIENT;
	uint32_t src = client ? words->client : words->server;
	uint32_t dst = client ? words->server : words->client;
	uint16_t sum;

	rte_memcpy(frame, packet->frame, RTE_ALIGN_CEIL(packet->length, CONNECTION_FRAME_BLOCK));
	mbuf->data_len = packet->length;
	mbuf->pkt_len = packet->length;
	if (likely(!packet->ip6)) {
		sum = (uint16_t)~inet_checksum_fold((uint64_t)packet->l3_sum + words->l3_sum);
		memcpy(l3 + 10, &sum, sizeof(sum));
		memcpy(l3 + 12, &src, sizeof(src));
		memcpy(l3 + 16, &dst, sizeof(dst));
	} else {
		memcpy(l3 + 20, &src, sizeof(src));
		memcpy(l3 + 36, &dst, sizeof(dst));
	}
	if (unlikely(packet->l4_offset == 0))
		return;
	memcpy(frame + packet->l4_offset + (client ? 0 : 2), &words->port, sizeof(words->port));
	if (unlikely(packet->l4_checksum_offset == 0))
		return;
	sum = (uint16_t)~inet_checksum_fold((uint64_t)packet->l4_sum + words->l4_sum);
	/* 0 would say that there is no checksum: RFC 768. */
	if (unlikely(sum == 0) && packet->udp)
		sum = 0xffff;
	memcpy(frame + packet->l4_checksum_offset, &sum, sizeof(sum));
}

#endif
