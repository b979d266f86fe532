/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder.h"

#include "core/memory.h"
#include "router/packet6.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define VLAN_MAX 4094
/* Those that wait, those in a ring of the port's that has not been cleaned, a cache. */
#define BUFFERS(port) (RESPONDER_WAITING_MAX + (port)->tx_ring + 2 * RTE_MEMPOOL_CACHE_MAX_SIZE)

struct responder *responders[PORTS_MAX];

static struct responder *responder_of(struct port *port)
{
	struct responder *responder = responders[port->index];

	if (responder != NULL)
		return responder;
	responder = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*responder), RTE_CACHE_LINE_SIZE));
	if (responder == NULL)
		return NULL;
	memset(responder, 0, sizeof(*responder));
	responder->port = port;
	responders[port->index] = responder;
	return responder;
}

static bool is_of_host(const struct ip_address *address)
{
	if (address->family == ADDRESS_IP6)
		return !ip6_is_multicast(address->ip6) && !ip6_is_unspecified(address->ip6) &&
		       !ip6_is_loopback(address->ip6);
	return address->ip4 >> 24 != 0 && address->ip4 >> 24 != 127 && address->ip4 >> 28 < 0xe;
}

static void add_address(
	struct port *port, const struct host_address *own, const struct config_node *node)
{
	struct responder *responder = responder_of(port);

	if (responder == NULL)
		return;
	if (!is_of_host(&own->address))
		config_mistake(node, "expected the address of a host");
	else if (host_owns(&responder->host, &own->address, own->vlan) != NULL)
		config_mistake(node, "given twice");
	/* One is kept for the link-local address. */
	else if (responder->host.nb_addresses >= HOST_ADDRESSES_MAX / 2)
		config_mistake(node, "a port can have %d addresses", HOST_ADDRESSES_MAX / 2);
	else
		responder->host.addresses[responder->host.nb_addresses++] = *own;
}

static void parse_address(const struct config_node *node)
{
	struct config_node port_key, address_key;
	struct host_address own = {0};
	struct port *port;

	if (!config_object(node, "port", "address", "vlan"))
		return;
	port_key = config_child(node, "port");
	address_key = config_child(node, "address");
	port = port_find(config_required(node, "port"));
	own.vlan = (uint16_t)config_u64(node, "vlan", 0, 1, VLAN_MAX);
	if (port == NULL || !port->tester)
		config_mistake(&port_key, "expected the name of one of the tester's ports");
	else if (config_prefix(&address_key, &own.address, &own.length))
		add_address(port, &own, &address_key);
}

void responders_parse(const struct config_node *array)
{
	CONFIG_EACH (item, array)
		parse_address(&item);
}

/* In each VLAN with IPv6 (RFC 4291 2.1), unless it was given. */
static void add_link_locals(struct host *host)
{
	unsigned given = host->nb_addresses;

	for (unsigned i = 0; i < given; i++) {
		struct host_address own = {.length = 64, .vlan = host->addresses[i].vlan};
		uint8_t ip6[IP6_BYTES];

		ip6_set_link_local(&host->mac, ip6);
		own.address = address_ip6(ip6);
		if (host->addresses[i].address.family == ADDRESS_IP6 &&
			host_towards(host, &own.address, own.vlan) == NULL)
			host->addresses[host->nb_addresses++] = own;
	}
}

int responders_create(void)
{
	for (unsigned i = 0; i < ports_count(); i++) {
		struct responder *responder = responders[i];
		char name[RTE_MEMPOOL_NAMESIZE];
		struct port *port = port_at(i);

		if (responder == NULL)
			continue;
		responder->host.mac = port->mac;
		add_link_locals(&responder->host);
		snprintf(name, sizeof(name), "responder-%u", port->index);
		responder->pool = memory_packet_pool(name, BUFFERS(port),
			RTE_MAX(port->max_frame_bytes, HOST_NEIGHBOR_BYTES_MAX));
		if (responder->pool == NULL)
			return -ENOMEM;
		responder->room = (uint16_t)(rte_pktmbuf_data_room_size(responder->pool) -
					     RTE_PKTMBUF_HEADROOM);
	}
	return 0;
}

/* NULL: no room. */
static struct rte_mbuf *new_frame(struct responder *responder)
{
	struct rte_mbuf *mbuf = responder->nb_waiting == RESPONDER_WAITING_MAX
					? NULL
					: rte_pktmbuf_alloc(responder->pool);

	if (mbuf == NULL)
		return NULL;
	/* tester-tx writes no time into it, and the port's driver reads no template of it. */
	mbuf->hash.fdir.hi = mbuf->hash.fdir.lo = 0;
	responder->waiting[responder->nb_waiting++] = mbuf;
	return mbuf;
}

static void set_bytes(struct rte_mbuf *mbuf, unsigned bytes)
{
	mbuf->data_len = (uint16_t)bytes;
	mbuf->pkt_len = bytes;
}

static bool answer(
	struct responder *responder, const struct host_heard *heard, const struct rte_mbuf *mbuf)
{
	struct rte_mbuf *made = new_frame(responder);

	if (made == NULL) {
		responder->counters.unanswered++;
		return false;
	}
	set_bytes(made, host_answer(&responder->host, heard, rte_pktmbuf_mtod(mbuf, uint8_t *),
				rte_pktmbuf_mtod(made, uint8_t *)));
	return true;
}

/* Whether the neighbour is the one that is asked for. While the control thread writes the question
 * the frame is lost: it asks again. */
static bool hear(struct responder *responder, const struct host_heard *heard)
{
	struct responder_question *question = &responder->question;
	bool sought;

	if (!rte_spinlock_trylock(&question->lock))
		return false;
	sought = question->from != NULL && heard->vlan == question->from->vlan &&
		 address_same(&question->neighbor, &heard->neighbor);
	if (sought && question->open) {
		question->mac = heard->mac;
		question->open = false;
	}
	rte_spinlock_unlock(&question->lock);
	return sought;
}

bool responder_take(struct responder *responder, const struct rte_mbuf *mbuf)
{
	struct host_heard heard;
	bool taken;

	if (mbuf->nb_segs != 1 || mbuf->data_len > responder->room)
		return false;
	heard = host_read(
		&responder->host, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	if (heard.message == HOST_NOTHING)
		return false;
	rte_spinlock_lock(&responder->lock);
	if (heard.message == HOST_ARP_REPLY || heard.message == HOST_ADVERTISEMENT)
		taken = hear(responder, &heard);
	else
		taken = answer(responder, &heard, mbuf);
	responder->counters.heard[heard.message] += taken;
	rte_spinlock_unlock(&responder->lock);
	return taken;
}

static void ask(struct responder *responder)
{
	struct responder_question *question = &responder->question;
	struct rte_mbuf *mbuf;

	if (!rte_spinlock_trylock(&question->lock))
		return;
	mbuf = question->open ? new_frame(responder) : NULL;
	if (mbuf != NULL) {
		set_bytes(mbuf, host_ask(&responder->host, question->from, &question->neighbor,
					rte_pktmbuf_mtod(mbuf, uint8_t *)));
		responder->counters.asked++;
	}
	rte_spinlock_unlock(&question->lock);
	responder->asked = __atomic_load_n(&responder->asks, __ATOMIC_RELAXED);
}

uint16_t responder_send(struct responder *responder)
{
	const struct port *port = responder->port;
	bool asks = __atomic_load_n(&responder->asks, __ATOMIC_ACQUIRE) != responder->asked;
	uint16_t sent;

	if (likely(!asks && __atomic_load_n(&responder->nb_waiting, __ATOMIC_RELAXED) == 0))
		return 0;
	/* In the next walk, then. */
	if (!rte_spinlock_trylock(&responder->lock))
		return 0;
	if (asks)
		ask(responder);
	sent = port->driver->tx_burst(
		port->tx_queues[0], responder->waiting, responder->nb_waiting);
	responder->nb_waiting -= sent;
	memmove(responder->waiting, responder->waiting + sent,
		responder->nb_waiting * sizeof(responder->waiting[0]));
	rte_spinlock_unlock(&responder->lock);
	return sent;
}
