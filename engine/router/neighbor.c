/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbor.h"

#include "core/clock.h"
#include "adjacency.h"
#include "packet.h"

#include <errno.h>
#include <string.h>

#define BUCKETS 4096u

uint32_t neighbors_due __rte_cache_aligned;

static struct neighbor neighbors[NEIGHBORS_MAX] __rte_cache_aligned;
static unsigned nb_neighbors;
static unsigned nb_pending;
static uint32_t buckets[BUCKETS];
static unsigned timeout_s = NEIGHBOR_TIMEOUT_S;
struct neighbor_routes neighbor_routes[ADDRESS_IP6 + 1];

void neighbors_reset(void)
{
	memset(neighbors, 0, sizeof(neighbors));
	memset(buckets, 0xff, sizeof(buckets));
	nb_neighbors = nb_pending = 0;
}

void neighbors_set_timeout(unsigned seconds)
{
	timeout_s = seconds;
}

/* Neighbours' addresses differ at their ends. */
static uint32_t address_word(const struct ip_address *address)
{
	uint64_t lower;

	if (address->family != ADDRESS_IP6)
		return address->ip4;
	memcpy(&lower, address->ip6 + IP6_BYTES - sizeof(lower), sizeof(lower));
	return (uint32_t)(lower * 0x9e3779b97f4a7c15ull >> 32);
}

static uint32_t *bucket_of(uint16_t interface, const struct ip_address *address)
{
	uint32_t word = address_word(address) ^ (uint32_t)interface << 24;

	return &buckets[(word * 0x9e3779b1u >> 16) % BUCKETS];
}

static struct neighbor *neighbor_search(uint16_t interface, const struct ip_address *address)
{
	uint32_t index = *bucket_of(interface, address);

	while (index != NEIGHBOR_NONE) {
		if (address_same(&neighbors[index].address, address) &&
			neighbors[index].interface == interface)
			return &neighbors[index];
		index = neighbors[index].link;
	}
	return NULL;
}

struct neighbor *neighbor_find(const struct interface *interface, struct ip_address address)
{
	return neighbor_search(interface->index, &address);
}

const struct ip_address *neighbor_address(uint32_t index)
{
	return &neighbors[index].address;
}

static void neighbor_unlink(struct neighbor *neighbor)
{
	uint32_t *place = bucket_of(neighbor->interface, &neighbor->address);

	while (*place != neighbor->index)
		place = &neighbors[*place].link;
	*place = neighbor->link;
}

/* Takes back the entry of a neighbour that has long not answered and that nothing needs; of the
 * same family, so that its adjacency stays in the same nodes' hands. */
static struct neighbor *neighbor_recycle(uint8_t family)
{
	uint64_t now = clock_now();

	for (unsigned i = 0; i < nb_neighbors; i++) {
		struct neighbor *neighbor = &neighbors[i];

		if (neighbor->state != NEIGHBOR_FAILED || neighbor->pinned ||
			neighbor->nb_pending > 0 || now < neighbor->next_request ||
			neighbor->address.family != family)
			continue;
		neighbor_routes[family].delete(neighbor);
		neighbor_unlink(neighbor);
		return neighbor;
	}
	return NULL;
}

static struct neighbor *neighbor_new(uint8_t family)
{
	struct adjacency empty = {.kind = ADJACENCY_ARP, .resolved = ADJACENCY_REWRITE};
	struct neighbor *neighbor = &neighbors[nb_neighbors];

	if (nb_neighbors == NEIGHBORS_MAX)
		return neighbor_recycle(family);
	if (family == ADDRESS_IP6) {
		empty.kind = ADJACENCY_ND;
		empty.resolved = ADJACENCY_REWRITE6;
	}
	empty.neighbor = neighbor->index = nb_neighbors;
	neighbor->adjacency = adjacency_add(&empty);
	if (neighbor->adjacency == ADJACENCY_NONE)
		return neighbor_recycle(family);
	nb_neighbors++;
	return neighbor;
}

static struct neighbor *neighbor_make(
	const struct interface *interface, const struct ip_address *address)
{
	struct neighbor *neighbor = neighbor_new(address->family);
	struct adjacency *adjacency;
	uint32_t *bucket = bucket_of(interface->index, address);

	if (neighbor == NULL)
		return NULL;
	neighbor->address = *address;
	neighbor->interface = interface->index;
	neighbor->state = NEIGHBOR_UNKNOWN;
	neighbor->link = *bucket;
	*bucket = neighbor->index;
	adjacency = &adjacencies[neighbor->adjacency];
	adjacency->address = address->family == ADDRESS_IP4 ? address->ip4 : 0;
	adjacency->interface = neighbor->interface;
	adjacency->mtu = interface->mtu;
	neighbor_routes[address->family].add(interface, neighbor);
	return neighbor;
}

struct neighbor *neighbor_get(const struct interface *interface, struct ip_address address)
{
	struct neighbor *neighbor = neighbor_find(interface, address);

	if (neighbor == NULL)
		neighbor = neighbor_make(interface, &address);
	if (neighbor != NULL)
		neighbor->pinned = true;
	return neighbor;
}

static void neighbor_resolved(struct neighbor *neighbor, const struct rte_ether_addr *mac)
{
	neighbor->mac = *mac;
	adjacency_resolve(neighbor->adjacency, mac, &interfaces[neighbor->interface].port->mac);
	if (neighbor->nb_pending > 0)
		__atomic_store_n(&neighbors_due, 1, __ATOMIC_RELEASE);
}

int neighbor_set_static(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac)
{
	struct neighbor *neighbor;

	rte_spinlock_lock(&router_lock);
	neighbor = neighbor_get(interface, address);
	if (neighbor != NULL) {
		neighbor->state = NEIGHBOR_STATIC;
		neighbor_resolved(neighbor, mac);
	}
	rte_spinlock_unlock(&router_lock);
	return neighbor == NULL ? -ENOSPC : 0;
}

static bool neighbor_has_mac(const struct neighbor *neighbor)
{
	return neighbor->state == NEIGHBOR_REACHABLE || neighbor->state == NEIGHBOR_PROBE ||
	       neighbor->state == NEIGHBOR_STATIC;
}

/* Heard of: believed from now on, for the timeout. */
static void neighbor_confirm(struct neighbor *neighbor, const struct rte_ether_addr *mac)
{
	if (!neighbor_has_mac(neighbor) || !rte_is_same_ether_addr(&neighbor->mac, mac))
		neighbor_resolved(neighbor, mac);
	neighbor->state = NEIGHBOR_REACHABLE;
	neighbor->next_request = clock_now() + timeout_s * rte_get_tsc_hz();
}

bool neighbor_learn(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac, bool create)
{
	struct neighbor *neighbor;

	rte_spinlock_lock(&router_lock);
	neighbor = neighbor_find(interface, address);
	if (neighbor == NULL && create)
		neighbor = neighbor_make(interface, &address);
	if (neighbor != NULL && neighbor->state != NEIGHBOR_STATIC)
		neighbor_confirm(neighbor, mac);
	rte_spinlock_unlock(&router_lock);
	return neighbor != NULL;
}

static void neighbor_advertised_locked(
	struct neighbor *neighbor, const struct rte_ether_addr *mac, bool solicited, bool override)
{
	bool known = neighbor_has_mac(neighbor), same;

	if (mac == NULL && !known)
		return;
	same = known && (mac == NULL || rte_is_same_ether_addr(&neighbor->mac, mac));
	if (known && !same && !override) {
		/* Someone else says so: is the one we know still there? */
		neighbor->next_request = clock_now();
		return;
	}
	if (solicited || !same)
		neighbor_confirm(neighbor, same ? &neighbor->mac : mac);
}

bool neighbor_advertised(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac, bool solicited, bool override)
{
	struct neighbor *neighbor;

	rte_spinlock_lock(&router_lock);
	neighbor = neighbor_find(interface, address);
	if (neighbor != NULL && neighbor->state != NEIGHBOR_STATIC)
		neighbor_advertised_locked(neighbor, mac, solicited, override);
	rte_spinlock_unlock(&router_lock);
	return neighbor != NULL;
}

static struct neighbor_request neighbor_ask(struct neighbor *neighbor, uint8_t tries)
{
	bool probe = neighbor_has_mac(neighbor);

	neighbor->state = probe ? NEIGHBOR_PROBE : NEIGHBOR_INCOMPLETE;
	neighbor->tries = tries;
	neighbor->next_request = clock_now() + rte_get_tsc_hz();
	return (struct neighbor_request){
		.interface = neighbor->interface,
		.unicast = probe,
		.mac = neighbor->mac,
		.target = neighbor->address,
	};
}

/* Keeps the packet; the oldest makes room for it (RFC 1122 2.3.2.2: save the latest). */
static void pending_put(
	struct neighbor *neighbor, struct rte_mbuf *mbuf, struct neighbor_answer *answer)
{
	if (neighbor->nb_pending == NEIGHBOR_PENDING) {
		answer->displaced = neighbor->pending[neighbor->first_pending];
		neighbor->pending[neighbor->first_pending] = mbuf;
		neighbor->first_pending = (neighbor->first_pending + 1) % NEIGHBOR_PENDING;
		return;
	}
	neighbor->pending[(neighbor->first_pending + neighbor->nb_pending++) % NEIGHBOR_PENDING] =
		mbuf;
	nb_pending++;
}

static struct rte_mbuf *pending_get(struct neighbor *neighbor)
{
	struct rte_mbuf *mbuf = neighbor->pending[neighbor->first_pending];

	neighbor->first_pending = (neighbor->first_pending + 1) % NEIGHBOR_PENDING;
	neighbor->nb_pending--;
	nb_pending--;
	return mbuf;
}

/* A glean adjacency, or one that has gone to another neighbour since, has only its interface. */
static struct neighbor *neighbor_of(
	const struct rte_mbuf *mbuf, const struct ip_address *destination)
{
	const struct adjacency *adjacency = &adjacencies[packet_adjacency(mbuf)];
	struct neighbor *neighbor;

	if (adjacency->neighbor != NEIGHBOR_NONE) {
		neighbor = &neighbors[adjacency->neighbor];
		if (neighbor->pinned || address_same(&neighbor->address, destination))
			return neighbor;
	}
	neighbor = neighbor_search(adjacency->interface, destination);
	return neighbor != NULL ? neighbor
				: neighbor_make(&interfaces[adjacency->interface], destination);
}

static enum neighbor_verdict neighbor_hold_locked(
	struct rte_mbuf *mbuf, const struct ip_address *destination, struct neighbor_answer *answer)
{
	struct neighbor *neighbor = neighbor_of(mbuf, destination);
	const struct adjacency *adjacency;

	if (neighbor == NULL)
		return NEIGHBOR_TABLE_FULL;
	adjacency = &adjacencies[packet_adjacency(mbuf)];
	if (adjacency->neighbor != neighbor->index)
		packet_set_adjacency(mbuf, neighbor->adjacency);
	answer->adjacency = packet_adjacency(mbuf);
	if (neighbor_has_mac(neighbor))
		return NEIGHBOR_READY;
	if (neighbor->state == NEIGHBOR_FAILED && clock_now() < neighbor->next_request)
		return NEIGHBOR_UNREACHABLE;
	if (nb_pending == NEIGHBOR_PENDING_TOTAL && neighbor->nb_pending < NEIGHBOR_PENDING)
		return NEIGHBOR_PENDING_FULL;
	pending_put(neighbor, mbuf, answer);
	if (neighbor->state != NEIGHBOR_INCOMPLETE) {
		answer->request = neighbor_ask(neighbor, 1);
		answer->ask = true;
	}
	return NEIGHBOR_HELD;
}

enum neighbor_verdict neighbor_hold(
	struct rte_mbuf *mbuf, struct ip_address destination, struct neighbor_answer *answer)
{
	enum neighbor_verdict verdict;

	memset(answer, 0, sizeof(*answer));
	rte_spinlock_lock(&router_lock);
	verdict = neighbor_hold_locked(mbuf, &destination, answer);
	rte_spinlock_unlock(&router_lock);
	return verdict;
}

/* Its next request is due, or the end of the time in which it is believed. */
static bool neighbor_is_overdue(const struct neighbor *neighbor, uint64_t now)
{
	return (neighbor->state == NEIGHBOR_INCOMPLETE || neighbor->state == NEIGHBOR_REACHABLE ||
		       neighbor->state == NEIGHBOR_PROBE) &&
	       now >= neighbor->next_request;
}

static bool neighbor_is_due(const struct neighbor *neighbor, uint64_t now)
{
	return neighbor_is_overdue(neighbor, now) ||
	       (neighbor->nb_pending > 0 && neighbor->state != NEIGHBOR_INCOMPLETE);
}

/* No answer: waiting packets are dropped, and the adjacencies ask again. */
static void neighbor_fail(struct neighbor *neighbor)
{
	if (neighbor_has_mac(neighbor))
		adjacency_resolve(neighbor->adjacency, NULL, NULL);
	neighbor->state = NEIGHBOR_FAILED;
	neighbor->next_request = clock_now() + rte_get_tsc_hz();
}

/* Returns false when the batch is full. */
static bool neighbor_collect(struct neighbor *neighbor, uint64_t now, struct neighbor_batch *batch)
{
	uint8_t tries = neighbor->state == NEIGHBOR_REACHABLE ? 0 : neighbor->tries;
	bool failed, overdue = neighbor_is_overdue(neighbor, now);

	if (overdue && tries < NEIGHBOR_TRIES) {
		if (batch->nb_requests == NEIGHBOR_BATCH)
			return false;
		batch->requests[batch->nb_requests++] = neighbor_ask(neighbor, tries + 1);
	} else if (overdue) {
		neighbor_fail(neighbor);
	}
	if (neighbor->state == NEIGHBOR_INCOMPLETE)
		return true;
	failed = neighbor->state == NEIGHBOR_FAILED;
	while (neighbor->nb_pending > 0) {
		if (failed && batch->nb_failed < NEIGHBOR_BATCH)
			batch->failed[batch->nb_failed++] = pending_get(neighbor);
		else if (!failed && batch->nb_ready < NEIGHBOR_BATCH)
			batch->ready[batch->nb_ready++] = pending_get(neighbor);
		else
			return false;
		batch->nb_ip6 += neighbor->address.family == ADDRESS_IP6;
	}
	return true;
}

void neighbors_collect(struct neighbor_batch *batch)
{
	uint64_t now = clock_now();
	bool all = true;

	batch->nb_requests = batch->nb_ready = batch->nb_failed = batch->nb_ip6 = 0;
	rte_spinlock_lock(&router_lock);
	for (unsigned i = 0; i < nb_neighbors && all; i++)
		if (neighbor_is_due(&neighbors[i], now))
			all = neighbor_collect(&neighbors[i], now, batch);
	__atomic_store_n(&neighbors_due, !all, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&router_lock);
}

void neighbors_tick(void)
{
	uint64_t now = clock_now();

	rte_spinlock_lock(&router_lock);
	for (unsigned i = 0; i < nb_neighbors; i++)
		if (neighbor_is_due(&neighbors[i], now)) {
			__atomic_store_n(&neighbors_due, 1, __ATOMIC_RELEASE);
			break;
		}
	rte_spinlock_unlock(&router_lock);
}
