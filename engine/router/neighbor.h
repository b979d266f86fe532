/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table (ARP and ND): who is at which MAC address, and which packets wait to know.
 * A neighbour is asked for at most once a second and three times; then what waited for it
 * is answered with "host unreachable". One that was learnt and not heard of for the timeout is
 * asked whether it is still there, in the same way, and goes if it is not: RFC 4861 7.3 without
 * its hints from upper layers. All under router_lock, away from the fast path.
 */
#ifndef LINERATE_NEIGHBOR_H
#define LINERATE_NEIGHBOR_H

#include "core/registry.h"
#include "core/ip_address.h"
#include "interface.h"

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#define NEIGHBORS_MAX 4096u
#define NEIGHBOR_TRIES 3
#define NEIGHBOR_TIMEOUT_S 1200
/* Packets that wait for one neighbour, and for all of them. */
#define NEIGHBOR_PENDING 16
#define NEIGHBOR_PENDING_TOTAL 1024u

enum neighbor_state {
	NEIGHBOR_UNKNOWN,    /* no request yet */
	NEIGHBOR_INCOMPLETE, /* asked, no answer yet */
	NEIGHBOR_REACHABLE,  /* learnt */
	NEIGHBOR_PROBE,      /* learnt long ago, asked whether it is still there */
	NEIGHBOR_STATIC,     /* configured */
	NEIGHBOR_FAILED,     /* did not answer; may be asked again after a second */
};

struct neighbor {
	struct ip_address address;
	uint16_t interface; /* its index */
	uint8_t state;
	uint8_t tries;
	bool pinned; /* a route or label leads to it: never given to another address */
	struct rte_ether_addr mac;
	uint32_t index;        /* of itself */
	uint32_t adjacency;    /* for plain packets; those with labels are linked to it */
	uint32_t link;         /* the next one with the same hash */
	uint64_t next_request; /* on clock_now(); or until when it is believed */
	uint8_t nb_pending, first_pending;
	struct rte_mbuf *pending[NEIGHBOR_PENDING];
};

struct neighbor_request {
	uint16_t interface; /* its index */
	bool unicast;       /* only `mac` is asked */
	struct rte_ether_addr mac;
	struct ip_address target;
};

enum neighbor_verdict {
	NEIGHBOR_READY,       /* the packet can go on with `adjacency` */
	NEIGHBOR_HELD,        /* it is kept; `displaced`, if any, is not any more */
	NEIGHBOR_UNREACHABLE, /* it has not answered lately */
	NEIGHBOR_TABLE_FULL,
	NEIGHBOR_PENDING_FULL, /* too many packets wait in all */
};

struct neighbor_answer {
	uint32_t adjacency;
	bool ask; /* send `request` now */
	struct neighbor_request request;
	struct rte_mbuf *displaced;
};

/* Due work: requests to send, packets whose neighbour answered, packets whose did not. */
#define NEIGHBOR_BATCH 256
struct neighbor_batch {
	unsigned nb_requests, nb_ready, nb_failed;
	unsigned nb_ip6; /* of the ready and failed: waited for an IPv6 neighbour */
	struct neighbor_request requests[NEIGHBOR_BATCH];
	struct rte_mbuf *ready[NEIGHBOR_BATCH];
	struct rte_mbuf *failed[NEIGHBOR_BATCH];
};

/* A neighbour has a host route as long as it is in the table: the functions of its family's routes,
 * called with router_lock held, which register themselves. */
struct neighbor_routes {
	void (*add)(const struct interface *interface, const struct neighbor *neighbor);
	void (*delete)(const struct neighbor *neighbor);
};
extern struct neighbor_routes neighbor_routes[]; /* by enum address_family */
#define NEIGHBOR_ROUTES_REGISTER(family, add, delete) \
	REGISTER_VALUE(family, neighbor_routes[family], ((struct neighbor_routes){add, delete}))

/* Not 0: some worker should call neighbors_collect(). */
extern uint32_t neighbors_due;

void neighbors_reset(void);
/* Time for which a learnt neighbour is valid without being heard of. */
void neighbors_set_timeout(unsigned seconds);
/* Address of the neighbour with that index, which adjacencies have. */
const struct ip_address *neighbor_address(uint32_t index);
/* router_lock held. */
struct neighbor *neighbor_find(const struct interface *interface, struct ip_address address);
/* The same, made when new, for good; NULL when the table is full. router_lock held. */
struct neighbor *neighbor_get(const struct interface *interface, struct ip_address address);

/* Returns 0 or -ENOSPC. */
int neighbor_set_static(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac);
/* Learns from a neighbour's message. One that is not known is added if `create`. Returns whether it
 * is known now; a static one stays as configured. */
bool neighbor_learn(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac, bool create);
/* It advertised itself (RFC 4861 7.2.5): `mac` may be NULL. Returns whether it is known. */
bool neighbor_advertised(const struct interface *interface, struct ip_address address,
	const struct rte_ether_addr *mac, bool solicited, bool override);
/* The packet's adjacency has no MAC address: what now? `destination` is the packet's, of no
 * family when the adjacency alone says who is meant. */
enum neighbor_verdict neighbor_hold(
	struct rte_mbuf *mbuf, struct ip_address destination, struct neighbor_answer *answer);
void neighbors_collect(struct neighbor_batch *batch);
/* The control thread's: notes whether something is due. */
void neighbors_tick(void);

#endif
