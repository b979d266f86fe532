/* SPDX-License-Identifier: BSD-3-Clause */
#include "origin.h"

#include "core/frame.h"
#include "core/memory.h"
#include "core/worker.h"
#include "forwarder.h"
#include "peers.h"

#include <errno.h>
#include <netinet/in.h>
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_udp.h>
#include <stdio.h>
#include <string.h>

#define TTL 64
/* Buffers a worker beyond those in the tx rings: its pool cache, frames not sent yet. */
#define WORKER_BUFFERS (RTE_MEMPOOL_CACHE_MAX_SIZE * 2 + ORIGIN_BURST)

_Static_assert(ORIGIN_HEADER_BYTES ==
		       RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr),
	"the template is Ethernet, IPv4 and UDP");

static uint16_t frame_bytes = FRAME_BYTES_MIN; /* FCS included */

void origin_parse(const struct config_node *node)
{
	if (!config_is_object(node))
		return;
	frame_bytes = (uint16_t)config_u64(
		node, "frame_bytes", FRAME_BYTES_MIN, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	peers_parse(node);
}

/* The headers are followed by zeros, which no checksum sees. */
static void make_packet(uint8_t *l3, const struct origin_flow *flow)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)l3;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	uint16_t l3_bytes = frame_bytes - RTE_ETHER_CRC_LEN - RTE_ETHER_HDR_LEN;

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(l3_bytes),
		.time_to_live = TTL,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(flow->src),
		.dst_addr = rte_cpu_to_be_32(flow->dst),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	*udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(flow->sport),
		.dst_port = rte_cpu_to_be_16(flow->dport),
		.dgram_len = rte_cpu_to_be_16(l3_bytes - sizeof(*ip)),
	};
}

static uint16_t udp_checksum(const uint8_t *l3)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)l3;
	uint32_t sum = rte_ipv4_phdr_cksum(ip, 0);

	sum += rte_raw_cksum(ip + 1, sizeof(struct rte_udp_hdr));
	sum = (sum & UINT16_MAX) + (sum >> 16);
	/* RFC 768: a sum of 0 is sent as all ones. */
	return sum == UINT16_MAX ? UINT16_MAX : (uint16_t)~sum;
}

void origin_checksums(const struct origin_flow *flow, uint16_t *ip_checksum, uint16_t *udp)
{
	uint8_t l3[ORIGIN_HEADER_BYTES - RTE_ETHER_HDR_LEN];

	make_packet(l3, flow);
	*ip_checksum = ((const struct rte_ipv4_hdr *)l3)->hdr_checksum;
	*udp = udp_checksum(l3);
}

static void make_header(struct origin *origin, const struct origin_flow *flow)
{
	struct rte_ether_hdr *ethernet = (struct rte_ether_hdr *)origin->header;
	struct rte_udp_hdr *udp =
		(struct rte_udp_hdr *)(origin->header + ORIGIN_HEADER_BYTES - sizeof(*udp));

	peers_addresses(origin->port, origin->header);
	ethernet->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	make_packet(origin->header + RTE_ETHER_HDR_LEN, flow);
	udp->dgram_cksum = udp_checksum(origin->header + RTE_ETHER_HDR_LEN);
}

static void fill_buffer(__rte_unused struct rte_mempool *pool, void *opaque, void *object,
	__rte_unused unsigned index)
{
	const struct origin *origin = opaque;
	uint8_t *data = fresh_data(object);

	memcpy(data, origin->header, ORIGIN_HEADER_BYTES);
	memset(data + ORIGIN_HEADER_BYTES, 0, origin->length - ORIGIN_HEADER_BYTES);
}

static int create_pool(struct origin *origin)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned workers = forwarder_workers();

	snprintf(name, sizeof(name), "origin-%u", origin->port->index);
	origin->pool = memory_packet_pool(name,
		origin->port->tx_ring * workers + WORKER_BUFFERS * (workers + 1), frame_bytes);
	if (origin->pool == NULL)
		return -ENOMEM;
	origin->rearm = fresh_rearm(origin->pool, origin->port->index);
	rte_mempool_obj_iter(origin->pool, fill_buffer, origin);
	return 0;
}

static int create_one(const char *template_name, struct port *port, const struct origin_flow *flow)
{
	struct origin *origin =
		rte_zmalloc_socket("origin", sizeof(*origin), RTE_CACHE_LINE_SIZE, memory_socket());
	char name[RTE_NODE_NAMESIZE];
	int rc;

	if (origin == NULL)
		return -ENOMEM;
	if (frame_bytes > port->max_frame_bytes) {
		fprintf(stderr, "forwarder.%s.frame_bytes: port %s takes at most %u\n",
			template_name, port->name, port->max_frame_bytes);
		return -EINVAL;
	}
	origin->port = port;
	origin->length = frame_bytes - RTE_ETHER_CRC_LEN;
	make_header(origin, flow);
	rc = create_pool(origin);
	if (rc != 0)
		return rc;
	if (node_clone(template_name, port->name, origin, NULL) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s-%s", template_name, port->name);
	for (unsigned i = 0; i < forwarder_workers(); i++)
		worker_add_node(worker_of_forwarder(i), name);
	return 0;
}

int origin_create(const char *template_name, const struct origin_flow *flow)
{
	int rc = 0;

	for (unsigned i = 0; i < forwarder_ports() && rc == 0; i++)
		rc = create_one(template_name, forwarder_port(i), flow);
	return rc;
}

int origin_init(struct node_state *state, struct rte_node *node)
{
	const struct origin *origin = state->object;
	struct origin_queue *queue = node_private(node);

	queue->queue = port_queue(origin->port, state->worker->forwarder_index);
	return 0;
}
