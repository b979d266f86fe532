/* SPDX-License-Identifier: BSD-3-Clause */
#include "inject.h"

#include "capture/capture_tap.h"
#include "core/ledger.h"
#include "core/memory.h"

#include <rte_mbuf.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENT_BYTES_MIN (unsigned)(RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
/* Those that wait, those in a ring of the port's that has not been cleaned, a cache. */
#define BUFFERS(port) (INJECT_WAITING_MAX + (port)->tx_ring + 2 * RTE_MEMPOOL_CACHE_MAX_SIZE)

struct injector *injectors[PORTS_MAX];

/* A frame as it waits for the worker, which alone has to do with mbufs: a control thread that is
 * descheduled within a pool would keep it waiting. */
struct record {
	uint32_t bytes;
	uint8_t frame[];
};

static unsigned longest(const struct port *port)
{
	return port->max_frame_bytes - RTE_ETHER_CRC_LEN;
}

static struct rte_ring *create_ring(unsigned record_bytes)
{
	ssize_t bytes = rte_ring_get_memsize_elem(record_bytes, 2 * INJECT_RING);
	struct rte_ring *ring =
		bytes < 0 ? NULL
			  : aligned_alloc(RTE_CACHE_LINE_SIZE,
				    RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));

	if (ring == NULL)
		return NULL;
	memset(ring, 0, (size_t)bytes);
	if (rte_ring_init(ring, "inject", INJECT_RING,
		    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) == 0)
		return ring;
	free(ring);
	return NULL;
}

static struct injector *create(struct port *port)
{
	struct injector *injector = calloc(1, sizeof(*injector));
	char name[RTE_MEMPOOL_NAMESIZE];

	if (injector == NULL)
		return NULL;
	injector->port = port;
	injector->record_bytes = RTE_ALIGN_CEIL(
		(unsigned)sizeof(struct record) + RTE_MAX(longest(port), SENT_BYTES_MIN), 4u);
	injector->ring = create_ring(injector->record_bytes);
	snprintf(name, sizeof(name), "inject-%u", port->index);
	if (injector->ring != NULL)
		injector->pool =
			memory_packet_pool(name, BUFFERS(port), RTE_MAX(port->max_frame_bytes, 64));
	if (injector->pool != NULL)
		return injector;
	free(injector->ring);
	free(injector);
	return NULL;
}

/* The port's, made with its first frame: others need no memory for it. */
static struct injector *injector_of(struct port *port)
{
	struct injector *injector = injectors[port->index];

	if (injector != NULL)
		return injector;
	injector = create(port);
	__atomic_store_n(&injectors[port->index], injector, __ATOMIC_RELEASE);
	return injector;
}

const char *inject(struct port *port, const uint8_t *frame, unsigned bytes)
{
	struct rte_ring_zc_data space;
	struct injector *injector;
	struct record *record;

	if (!port->tester)
		return "port: expected one of the tester's";
	if (bytes < RTE_ETHER_HDR_LEN || bytes > longest(port))
		return "frame: shorter than an Ethernet header, or longer than the port's frames";
	injector = injector_of(port);
	if (injector == NULL)
		return "no memory for frames: raise memory.megabytes";
	if (rte_ring_enqueue_zc_bulk_elem_start(
		    injector->ring, injector->record_bytes, 1, &space, NULL) == 0)
		return "too many frames wait: its link takes none, or send fewer at once";
	record = space.ptr1;
	record->bytes = RTE_MAX(bytes, SENT_BYTES_MIN);
	memcpy(record->frame, frame, bytes);
	memset(record->frame + bytes, 0, record->bytes - bytes);
	rte_ring_enqueue_zc_elem_finish(injector->ring, 1);
	injector->queued++;
	return NULL;
}

/* Makes a frame of the oldest that waits; false when there is none, or no buffer now. */
static bool take(struct injector *injector)
{
	struct rte_ring_zc_data space;
	const struct record *record;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(injector->pool);

	if (mbuf == NULL)
		return false;
	if (rte_ring_dequeue_zc_bulk_elem_start(
		    injector->ring, injector->record_bytes, 1, &space, NULL) == 0) {
		rte_pktmbuf_free(mbuf);
		return false;
	}
	record = space.ptr1;
	/* tester-tx writes no time into it, and the port's driver reads no template of it. */
	mbuf->hash.fdir.hi = mbuf->hash.fdir.lo = 0;
	mbuf->data_len = (uint16_t)record->bytes;
	mbuf->pkt_len = record->bytes;
	memcpy(rte_pktmbuf_mtod(mbuf, void *), record->frame, record->bytes);
	rte_ring_dequeue_zc_elem_finish(injector->ring, 1);
	injector->waiting[injector->nb_waiting++] = mbuf;
	return true;
}

uint16_t inject_send(struct injector *injector)
{
	uint16_t sent;

	if (injector->nb_waiting == 0 && rte_ring_empty(injector->ring))
		return 0;
	while (injector->nb_waiting < INJECT_WAITING_MAX && !rte_ring_empty(injector->ring) &&
		take(injector)) {
	}
	sent = capture_tx_burst(
		port_queue(injector->port, 0), injector->waiting, injector->nb_waiting);
	injector->nb_waiting -= sent;
	memmove(injector->waiting, injector->waiting + sent,
		injector->nb_waiting * sizeof(injector->waiting[0]));
	__atomic_store_n(&injector->sent, injector->sent + sent, __ATOMIC_RELAXED);
	return sent;
}

void inject_ledger(struct ledger *ledger)
{
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		const struct injector *injector = __atomic_load_n(&injectors[i], __ATOMIC_ACQUIRE);

		if (injector != NULL && injector->sent != 0)
			ledger_add(ledger, LEDGER_SENT,
				__atomic_load_n(&injector->sent, __ATOMIC_RELAXED),
				"tester %s: injected", injector->port->name);
	}
}
