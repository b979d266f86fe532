/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve.h"

#include "responder.h"
#include "trial.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define REQUESTS 3
#define WAIT_MS 500

/* One question at a time: commands have a thread a client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t frames_in(const struct port *port)
{
	struct port_stats stats = {0};

	port->driver->stats(port, &stats);
	return stats.rx_packets;
}

static void set_question(struct responder *responder, const struct host_address *from,
	const struct ip_address *neighbor)
{
	struct responder_question *question = &responder->question;

	rte_spinlock_lock(&question->lock);
	question->from = from;
	question->neighbor = *neighbor;
	question->open = true;
	rte_spinlock_unlock(&question->lock);
}

static bool answered(struct responder *responder, struct rte_ether_addr *mac)
{
	struct responder_question *question = &responder->question;
	bool open;

	rte_spinlock_lock(&question->lock);
	open = question->open;
	*mac = question->mac;
	rte_spinlock_unlock(&question->lock);
	return !open;
}

/* Later requests are not sent any more. */
static void close_question(struct responder *responder)
{
	rte_spinlock_lock(&responder->question.lock);
	responder->question.open = false;
	responder->question.from = NULL;
	rte_spinlock_unlock(&responder->question.lock);
}

static bool asked_once(struct responder *responder, struct rte_ether_addr *mac)
{
	__atomic_add_fetch(&responder->asks, 1, __ATOMIC_RELEASE);
	for (unsigned ms = 0; ms < WAIT_MS; ms++) {
		if (answered(responder, mac))
			return true;
		usleep(1000);
	}
	return answered(responder, mac);
}

/* The reason, as far as the wait itself tells it. */
static const char *explain_silence(const struct port *port, const struct host_address *from,
	uint64_t frames, char why[RESOLVE_WHY_BYTES])
{
	char own[ADDRESS_TEXT_BYTES];
	const char *way =
		from->address.family == ADDRESS_IP4 ? "ARP requests" : "neighbour solicitations";

	address_text(&from->address, own);
	if (port_link_is_down(port))
		snprintf(why, RESOLVE_WHY_BYTES, "the link of port %s is down", port->name);
	else if (frames == 0)
		snprintf(why, RESOLVE_WHY_BYTES,
			"no answer to %d %s from %s, and port %s received nothing at all", REQUESTS,
			way, own, port->name);
	else
		snprintf(why, RESOLVE_WHY_BYTES,
			"no answer to %d %s from %s, though port %s received other frames",
			REQUESTS, way, own, port->name);
	return why;
}

static const char *ask_all(struct responder *responder, const struct host_address *from,
	const struct ip_address *neighbor, struct resolved *resolved, char why[RESOLVE_WHY_BYTES])
{
	uint64_t before = frames_in(responder->port);

	set_question(responder, from, neighbor);
	for (resolved->requests = 1; resolved->requests <= REQUESTS; resolved->requests++)
		if (asked_once(responder, &resolved->mac))
			break;
	close_question(responder);
	if (resolved->requests <= REQUESTS)
		return NULL;
	return explain_silence(responder->port, from, frames_in(responder->port) - before, why);
}

const char *resolve(struct port *port, const struct ip_address *neighbor, int vlan,
	struct resolved *resolved, char why[RESOLVE_WHY_BYTES])
{
	struct responder *responder = responders[port->index];
	const struct host_address *from;
	const char *wrong;

	if (responder == NULL)
		return "the port has no address: give it one in the tester's addresses";
	from = host_towards(&responder->host, neighbor, vlan);
	if (from == NULL)
		return "on no subnet of the port: ask for the next hop, or correct the prefixes";
	if (address_same(&from->address, neighbor))
		return "that is the port's own address";
	pthread_mutex_lock(&lock);
	wrong = trial_active() ? "a trial runs: ask before it or after it"
			       : ask_all(responder, from, neighbor, resolved, why);
	pthread_mutex_unlock(&lock);
	return wrong;
}
