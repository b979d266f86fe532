/* SPDX-License-Identifier: BSD-3-Clause */
#include "flowtable_rss.h"

#include "core/flow_tuple.h"
#include "core/vector.h"
#include "modes/forwarder.h"

#include <errno.h>
#include <rte_ether.h>
#include <rte_hash_crc.h>
#include <stdio.h>
#include <string.h>

static bool rss_does_it;

/* Sum and product, as CRCs alone would cancel in flows whose ends are numbered alike. */
static uint32_t mix(uint32_t source, uint32_t destination)
{
	return (source + destination) * 0x9e3779b1u;
}

/* The same for both directions. Fragments go by addresses alone, as with RSS. */
static uint32_t symmetric_hash(const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint8_t tuple[FLOW_TUPLE_BYTES];
	unsigned bytes = flow_tuple(frame, mbuf->data_len, FLOW_L4 | FLOW_MPLS_INNER, tuple);
	unsigned address = bytes >= 32 ? 16 : 4;
	uint16_t ports[2] = {0, 0};

	if (unlikely(bytes == 0))
		return rte_hash_crc(frame, RTE_MIN(mbuf->data_len, (uint16_t)RTE_ETHER_HDR_LEN), 0);
	if (bytes > 2 * address)
		memcpy(ports, tuple + 2 * (size_t)address, sizeof(ports));
	return mix(rte_hash_crc(tuple, address, ports[0]),
		rte_hash_crc(tuple + address, address, ports[1]));
}

static void symmetric_hash_vector(struct rte_mbuf **mbufs, uint32_t *hashes, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		if (likely(i + 2 * VECTOR_AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * VECTOR_AHEAD]);
		if (likely(i + VECTOR_AHEAD < count))
			vector_prefetch_data(mbufs[i + VECTOR_AHEAD]);
		hashes[i] = symmetric_hash(mbufs[i]);
	}
}

handoff_hash_t flowtable_steer(void)
{
	return rss_does_it || handoff_off() || forwarder_workers() < 2 ? NULL
								       : symmetric_hash_vector;
}

/* Makes the port's RSS symmetric over addresses and ports, and labels' inner headers if it can. */
static int make_symmetric(struct port *port, struct port_rss *rss)
{
	int rc;

	if (port->driver->rss_get == NULL || port->driver->rss_set == NULL)
		return -ENOTSUP;
	rc = port->driver->rss_get(port, rss);
	if (rc != 0)
		return rc;
	rss->symmetric = true;
	rss->fields = FLOW_L4 | FLOW_MPLS_INNER;
	rc = port->driver->rss_set(port, rss);
	if (rc == 0)
		return 0;
	rss->fields = FLOW_L4;
	return port->driver->rss_set(port, rss);
}

/* The hash is the same on all ports; so must be what is made of it. */
static bool same_queues(const struct port *a, const struct port_rss *rss_a, const struct port *b,
	const struct port_rss *rss_b)
{
	return a->nb_rx_queues == b->nb_rx_queues && rss_a->nb_entries == rss_b->nb_entries &&
	       rss_a->fields == rss_b->fields &&
	       memcmp(rss_a->entries, rss_b->entries,
		       rss_a->nb_entries * sizeof(rss_a->entries[0])) == 0;
}

/* Returns the first port whose RSS cannot do it, or NULL. */
static const struct port *try_rss(int *rc)
{
	struct port_rss first, rss;

	for (unsigned i = 0; i < forwarder_ports(); i++) {
		struct port *port = forwarder_port(i);

		*rc = make_symmetric(port, i == 0 ? &first : &rss);
		if (*rc == 0 && i > 0 && !same_queues(port, &rss, forwarder_port(0), &first))
			*rc = -EXDEV;
		if (*rc == 0 && !handoff_off() && port->nb_rx_queues < forwarder_workers())
			*rc = -ENOSPC;
		if (*rc != 0)
			return port;
	}
	return NULL;
}

int flowtable_rss_create(void)
{
	const struct port *port;
	int rc = 0;

	if (forwarder_workers() < 2)
		return 0;
	if (handoff_threading() != THREADING_RUN_TO_COMPLETION)
		return 0;
	port = try_rss(&rc);
	rss_does_it = port == NULL;
	if (port == NULL || !handoff_off())
		return 0;
	fprintf(stderr,
		"port %s: its RSS does not bring both directions of a flow to one worker (%s): "
		"flowtable needs \"handoff\": \"auto\", or one worker\n",
		port->name, rc == -EXDEV ? "other queues than the first port's" : strerror(-rc));
	return rc;
}
