/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder: a tester port with addresses is a host on its link. It answers ARP, neighbour
 * solicitations and echo, during trials and between them, asks for neighbours' MAC addresses, and
 * pings. Addresses may change at any time.
 *
 * Only frames that the analyser takes for none of ours get here, so that received test frames cost
 * nothing more. A request that is answered is not in the packet ledger, and neither is its answer:
 * there the port is a mirror, and what a forwarder of ours books for the one (originated) and the
 * other (consumed) is even. One that cannot be answered is an `other` frame, as all that the port
 * does not know. Requests of our own go out between trials only.
 */
#ifndef LINERATE_RESPONDER_H
#define LINERATE_RESPONDER_H

#include "core/config.h"
#include "port/port.h"
#include "responder_frame.h"

#include <rte_mbuf.h>
#include <rte_spinlock.h>

/* Answers that wait for room in the port's ring; a neighbour that asks faster than that is not
 * answered each time. */
#define RESPONDER_WAITING_MAX 64

/* The neighbour whose MAC address is asked for. */
struct responder_question {
	rte_spinlock_t lock; /* held for a few words only; the worker never waits for it */
	bool open;           /* nothing came yet */
	struct ip_address neighbor;
	struct host_address from; /* without an address when no answer is waited for */
	struct rte_ether_addr mac;
};

enum ping_state {
	PING_NONE,
	PING_WANTED, /* to be sent */
	PING_SENT,
	PING_REPLIED,
	PING_REFUSED, /* an ICMP error came */
};

/* The echo request that is under way. */
struct responder_ping {
	uint32_t state;        /* enum ping_state; whose word the rest is, it says */
	struct host_echo echo; /* by the control side, while none is under way */
	/* By the worker, from then on. */
	uint64_t sent_tsc, heard_tsc;
	struct ip_address by;
	uint8_t ttl, type, code;
};

/* Written by the tester's worker. */
struct responder_counters {
	uint64_t heard[HOST_MESSAGES]; /* requests that were answered, answers to ours */
	uint64_t asked;                /* requests sent */
	uint64_t pings;                /* echo requests sent */
	uint64_t unanswered;           /* no room for the answer */
};

struct responder {
	struct port *port;
	const struct host *host;  /* never changed: another one takes its place (rcu.h) */
	struct rte_mempool *pool; /* made with the first address */
	uint16_t room;            /* bytes of a buffer */
	uint32_t asks; /* how often the worker is to look for what to send; the control side raises
			  it */
	uint32_t asked;
	struct responder_question question;
	struct responder_ping ping;
	struct responder_counters counters;
	rte_spinlock_t
		lock; /* of what follows: who receives may be another worker than who sends */
	uint16_t nb_waiting;
	struct rte_mbuf *waiting[RESPONDER_WAITING_MAX];
};

/* By the port's index; NULL: it is none of the tester's. */
extern struct responder *responders[PORTS_MAX];

/* Reads the tester's "addresses". */
void responders_parse(const struct config_node *array);
/* With ports configured. Returns 0 or -errno after saying why. */
int responders_create(void);

/* The control side's, from any of its threads, at any time. Each returns NULL, or what is wrong:
 * then nothing has changed. */
const char *responder_set(
	struct responder *responder, const struct host_address *addresses, unsigned count);
const char *responder_add(
	struct responder *responder, const struct host_address *addresses, unsigned count);
/* NULL: all addresses of the port. */
const char *responder_remove(struct responder *responder, const struct host_address *address);
/* A copy of what the port is now. */
struct host responder_host(struct responder *responder);

/* By the tester's worker: whether the frame was for the port itself, and is answered. */
bool responder_take(struct responder *responder, const struct rte_mbuf *mbuf);
/* Sends what waits, and what is to be asked. Returns how many frames. */
uint16_t responder_send(struct responder *responder);

#endif
