/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of tester ports: from the configuration, and as the control side changes them. */
#include "core/memory.h"
#include "core/rcu.h"
#include "core/worker.h"
#include "responder.h"
#include "router/packet6.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define VLAN_MAX 4094
/* Those that wait, those in a ring of the port's that has not been cleaned, a cache. */
#define BUFFERS(port) (RESPONDER_WAITING_MAX + (port)->tx_ring + 2 * RTE_MEMPOOL_CACHE_MAX_SIZE)
/* One is kept for the link-local address. */
#define ADDRESSES_MAX (HOST_ADDRESSES_MAX / 2)
/* Commands have a thread a client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
	responder->host = calloc(1, sizeof(*responder->host));
	if (responder->host == NULL) {
		free(responder);
		return NULL;
	}
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

/* Returns NULL, or what is wrong with the address. */
static const char *host_add(struct host *host, const struct host_address *own)
{
	if (!is_of_host(&own->address))
		return "expected the address of a host";
	if (own->gateway.family != ADDRESS_NONE &&
		(own->gateway.family != own->address.family || !is_of_host(&own->gateway)))
		return "gateway: expected a host's address of the same family";
	if (own->gateway.family != ADDRESS_NONE && address_same(&own->gateway, &own->address))
		return "gateway: that is the port's own address";
	if (host_owns(host, &own->address, own->tags) != NULL)
		return "given twice";
	if (host->nb_addresses >= ADDRESSES_MAX)
		return "a port can have 16 addresses";
	host->addresses[host->nb_addresses++] = *own;
	return NULL;
}
_Static_assert(ADDRESSES_MAX == 16, "the text above");

/* In each VLAN with IPv6 (RFC 4291 2.1), unless it was given. */
static void add_link_locals(struct host *host)
{
	unsigned given = host->nb_addresses;

	for (unsigned i = 0; i < given; i++) {
		struct host_address own = {
			.length = 64, .tags = host->addresses[i].tags, .automatic = true};
		uint8_t ip6[IP6_BYTES];

		ip6_set_link_local(&host->mac, ip6);
		own.address = address_ip6(ip6);
		if (host->addresses[i].address.family == ADDRESS_IP6 &&
			host_owns(host, &own.address, own.tags) == NULL &&
			host_towards(host, &own.address, &own.tags) == NULL)
			host->addresses[host->nb_addresses++] = own;
	}
}

static void parse_address(const struct config_node *node)
{
	struct config_node port_key, address_key, inner_key, gateway_key;
	struct host_address own = {0};
	struct responder *responder;
	const char *wrong;
	struct port *port;

	if (!config_object(node, "port", "address", "vlan", "inner_vlan", "gateway"))
		return;
	port_key = config_child(node, "port");
	address_key = config_child(node, "address");
	inner_key = config_child(node, "inner_vlan");
	gateway_key = config_child(node, "gateway");
	port = port_find(config_required(node, "port"));
	own.tags.outer = (uint16_t)config_u64(node, "vlan", 0, 1, VLAN_MAX);
	own.tags.inner = (uint16_t)config_u64(node, "inner_vlan", 0, 1, VLAN_MAX);
	if (own.tags.inner != 0 && own.tags.outer == 0)
		config_mistake(&inner_key, "goes with vlan, the outer tag");
	if (gateway_key.json != NULL && !config_address(node, "gateway", &own.gateway))
		return;
	if (port == NULL || !port->tester) {
		config_mistake(&port_key, "expected the name of one of the tester's ports");
		return;
	}
	responder = responder_of(port);
	if (!config_prefix(&address_key, &own.address, &own.length) || responder == NULL)
		return;
	wrong = host_add((struct host *)(uintptr_t)responder->host, &own);
	if (wrong != NULL)
		config_mistake(&address_key, "%s", wrong);
}

void responders_parse(const struct config_node *array)
{
	CONFIG_EACH (item, array)
		parse_address(&item);
}

/* Buffers, of which ports without addresses need none. Returns false without memory. */
static bool create_pool(struct responder *responder)
{
	struct port *port = responder->port;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (responder->pool != NULL)
		return true;
	snprintf(name, sizeof(name), "responder-%u", port->index);
	responder->pool = memory_packet_pool(
		name, BUFFERS(port), RTE_MAX(port->max_frame_bytes, HOST_NEIGHBOR_BYTES_MAX));
	if (responder->pool == NULL)
		return false;
	responder->room =
		(uint16_t)(rte_pktmbuf_data_room_size(responder->pool) - RTE_PKTMBUF_HEADROOM);
	return true;
}

int responders_create(void)
{
	for (unsigned i = 0; i < ports_count(); i++) {
		struct responder *responder;
		struct host *host;

		if (!port_at(i)->tester)
			continue;
		responder = responder_of(port_at(i));
		if (responder == NULL)
			return -ENOMEM;
		/* No worker knows it yet. */
		host = (struct host *)(uintptr_t)responder->host;
		host->mac = port_at(i)->mac;
		add_link_locals(host);
		if (host->nb_addresses > 0 && !create_pool(responder))
			return -ENOMEM;
	}
	return 0;
}

/* Gives the worker another host. What it may be reading is freed once it does not. */
static const char *publish(struct responder *responder, const struct host *host)
{
	const struct host *before = responder->host;
	struct host *after = malloc(sizeof(*after));

	if (after == NULL || rcu_start(WORKERS_MAX) != 0 ||
		(host->nb_addresses > 0 && !create_pool(responder))) {
		free(after);
		return "no memory: raise memory.megabytes";
	}
	*after = *host;
	add_link_locals(after);
	__atomic_store_n(&responder->host, after, __ATOMIC_RELEASE);
	if (rcu_wait())
		free((void *)(uintptr_t)before);
	return NULL;
}

/* The host with its given addresses alone. */
static struct host given_host(const struct responder *responder)
{
	struct host host = {.mac = responder->host->mac};

	for (unsigned i = 0; i < responder->host->nb_addresses; i++)
		if (!responder->host->addresses[i].automatic)
			host.addresses[host.nb_addresses++] = responder->host->addresses[i];
	return host;
}

static const char *add_all(struct responder *responder, struct host *host,
	const struct host_address *addresses, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const char *wrong = host_add(host, &addresses[i]);

		if (wrong != NULL)
			return wrong;
	}
	return publish(responder, host);
}

const char *responder_set(
	struct responder *responder, const struct host_address *addresses, unsigned count)
{
	struct host host;
	const char *wrong;

	pthread_mutex_lock(&lock);
	host = (struct host){.mac = responder->host->mac};
	wrong = add_all(responder, &host, addresses, count);
	pthread_mutex_unlock(&lock);
	return wrong;
}

const char *responder_add(
	struct responder *responder, const struct host_address *addresses, unsigned count)
{
	struct host host;
	const char *wrong;

	pthread_mutex_lock(&lock);
	host = given_host(responder);
	wrong = add_all(responder, &host, addresses, count);
	pthread_mutex_unlock(&lock);
	return wrong;
}

const char *responder_remove(struct responder *responder, const struct host_address *address)
{
	const char *wrong = NULL;
	struct host host, left;

	pthread_mutex_lock(&lock);
	host = given_host(responder);
	left = (struct host){.mac = host.mac};
	for (unsigned i = 0; i < host.nb_addresses; i++)
		if (address != NULL &&
			(!address_same(&host.addresses[i].address, &address->address) ||
				!host_tags_same(host.addresses[i].tags, address->tags)))
			left.addresses[left.nb_addresses++] = host.addresses[i];
	if (address != NULL && left.nb_addresses == host.nb_addresses)
		wrong = "the port has no such address in that VLAN";
	else
		wrong = publish(responder, &left);
	pthread_mutex_unlock(&lock);
	return wrong;
}

struct host responder_host(struct responder *responder)
{
	struct host host;

	pthread_mutex_lock(&lock);
	host = *responder->host;
	pthread_mutex_unlock(&lock);
	return host;
}
