/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table (ARP): who is at which MAC address, and which packets wait to know.
 * A neighbour is asked for at most once a second and three times; then what waited for it
 * is answered with "host unreachable". All under router_lock, away from the fast path.
 */
#ifndef LINERATE_NEIGHBOR_H
#define LINERATE_NEIGHBOR_H

#include "interface.h"

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#define NEIGHBORS_MAX 4096u
#define NEIGHBOR_TRIES 3
/* Packets that wait for one neighbour, and for all of them. */
#define NEIGHBOR_PENDING 16
#define NEIGHBOR_PENDING_TOTAL 1024u

enum neighbor_state {
	NEIGHBOR_UNKNOWN,    /* nobody has asked yet */
	NEIGHBOR_INCOMPLETE, /* asked, no answer yet */
	NEIGHBOR_REACHABLE,  /* learnt */
	NEIGHBOR_STATIC,     /* configured */
	NEIGHBOR_FAILED,     /* did not answer; may be asked again after a second */
};

struct neighbor {
	uint32_t address;   /* host order */
	uint16_t interface; /* its index */
	uint8_t state;
	uint8_t tries;
	bool pinned; /* a route or label leads to it: never given to another address */
	struct rte_ether_addr mac;
	uint32_t index;        /* of itself */
	uint32_t adjacency;    /* for plain IPv4; those with labels are linked to it */
	uint32_t link;         /* the next one with the same hash */
	uint64_t next_request; /* on neighbor_clock() */
	uint8_t nb_pending, first_pending;
	struct rte_mbuf *pending[NEIGHBOR_PENDING];
};

struct neighbor_request {
	uint16_t interface; /* its index */
	uint32_t target;
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

/* What is due: requests to send, packets whose neighbour answered, packets whose did not. */
#define NEIGHBOR_BATCH 256
struct neighbor_batch {
	unsigned nb_requests, nb_ready, nb_failed;
	struct neighbor_request requests[NEIGHBOR_BATCH];
	struct rte_mbuf *ready[NEIGHBOR_BATCH];
	struct rte_mbuf *failed[NEIGHBOR_BATCH];
};

/* Not 0: some worker should call neighbors_collect(). */
extern uint32_t neighbors_due;

void neighbors_reset(void);
/* router_lock held. */
struct neighbor *neighbor_find(const struct interface *interface, uint32_t address);
/* The same, made when new, for good; NULL when the table is full. router_lock held. */
struct neighbor *neighbor_get(const struct interface *interface, uint32_t address);

/* Returns 0 or -ENOSPC. */
int neighbor_set_static(
	const struct interface *interface, uint32_t address, const struct rte_ether_addr *mac);
/* A neighbour said so. One that is not known is added if `create`. Returns whether it is known
 * now; a static one stays as configured. */
bool neighbor_learn(const struct interface *interface, uint32_t address,
	const struct rte_ether_addr *mac, bool create);
/* The packet's adjacency has no MAC address: what now? `destination` is the packet's. */
enum neighbor_verdict neighbor_hold(
	struct rte_mbuf *mbuf, uint32_t destination, struct neighbor_answer *answer);
void neighbors_collect(struct neighbor_batch *batch);
/* The control thread's: notes whether something is due. */
void neighbors_tick(void);

/* The TSC, which tests can put forward. */
uint64_t neighbor_clock(void);
void neighbor_clock_advance(uint64_t clocks);

#endif
