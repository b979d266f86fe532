/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder: a tester port with addresses is a host on its link. It answers ARP, neighbour
 * solicitations and echo, during trials and between them, and asks for neighbours' MAC addresses.
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
	const struct host_address *from;
	struct rte_ether_addr mac;
};

/* Written by the tester's worker. */
struct responder_counters {
	uint64_t heard[HOST_MESSAGES]; /* requests that were answered, answers to ours */
	uint64_t asked;                /* requests sent */
	uint64_t unanswered;           /* no room for the answer */
};

struct responder {
	struct port *port;
	struct host host;
	struct rte_mempool *pool;
	uint16_t room; /* bytes of a buffer */
	uint32_t asks; /* how often the question is to be sent; the control thread raises it */
	uint32_t asked;
	struct responder_question question;
	struct responder_counters counters;
	rte_spinlock_t
		lock; /* of what follows: who receives may be another worker than who sends */
	uint16_t nb_waiting;
	struct rte_mbuf *waiting[RESPONDER_WAITING_MAX];
};

/* By the port's index; NULL: it has no address. */
extern struct responder *responders[PORTS_MAX];

/* Reads the tester's "addresses". */
void responders_parse(const struct config_node *array);
/* With ports configured. Returns 0 or -errno after saying why. */
int responders_create(void);

/* By the tester's worker: whether the frame was for the port itself, and is answered. */
bool responder_take(struct responder *responder, const struct rte_mbuf *mbuf);
/* Sends what waits, and what is to be asked. Returns how many frames. */
uint16_t responder_send(struct responder *responder);

#endif
