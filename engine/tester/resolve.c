/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve.h"

#include "responder.h"
#include "trial.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <unistd.h>

#define REQUESTS 3
#define WAIT_MS 500

/* One question at a time: commands have a thread a client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t neighbors_lock = PTHREAD_MUTEX_INITIALIZER;
static struct neighbor neighbors[NEIGHBORS_MAX];
static unsigned nb_neighbors;

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
	question->from = *from;
	question->neighbor = *neighbor;
	question->open = true;
	rte_spinlock_unlock(&question->lock);
}

/* Without the lock until it is: the worker drops an answer that comes while it is held. */
static bool answered(struct responder *responder, struct rte_ether_addr *mac)
{
	struct responder_question *question = &responder->question;

	if (__atomic_load_n(&question->open, __ATOMIC_ACQUIRE))
		return false;
	*mac = question->mac;
	return true;
}

/* Later requests are not sent any more. */
static void close_question(struct responder *responder)
{
	rte_spinlock_lock(&responder->question.lock);
	responder->question.open = false;
	memset(&responder->question.from, 0, sizeof(responder->question.from));
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

static bool is_neighbor(const struct neighbor *known, const struct neighbor *other)
{
	return known->port == other->port && host_tags_same(known->tags, other->tags) &&
	       address_same(&known->address, &other->address);
}

/* In the place of what was known of it, or of the one that was heard of longest ago. */
static void keep(const struct neighbor *answered_now)
{
	struct neighbor *place = &neighbors[0];
	unsigned i = 0;

	pthread_mutex_lock(&neighbors_lock);
	for (; i < nb_neighbors && !is_neighbor(&neighbors[i], answered_now); i++)
		if (neighbors[i].tsc < place->tsc)
			place = &neighbors[i];
	if (i < nb_neighbors)
		place = &neighbors[i];
	else if (nb_neighbors < NEIGHBORS_MAX)
		place = &neighbors[nb_neighbors++];
	*place = *answered_now;
	pthread_mutex_unlock(&neighbors_lock);
}

unsigned resolved_neighbors(struct neighbor copies[NEIGHBORS_MAX])
{
	unsigned count;

	pthread_mutex_lock(&neighbors_lock);
	count = nb_neighbors;
	memcpy(copies, neighbors, count * sizeof(*copies));
	pthread_mutex_unlock(&neighbors_lock);
	return count;
}

const char *resolve(struct port *port, const struct ip_address *neighbor,
	const struct host_tags *tags, struct resolved *resolved, char why[RESOLVE_WHY_BYTES])
{
	struct responder *responder = responders[port->index];
	const struct host_address *from;
	const char *wrong;
	struct host host;

	if (responder == NULL)
		return "expected a port of the tester's";
	host = responder_host(responder);
	if (host.nb_addresses == 0)
		return "the port has no address: give it one in the tester's addresses, or by "
		       "/linerate/responder/set";
	from = host_towards(&host, neighbor, tags);
	if (from == NULL)
		return "on no subnet of the port: ask for the next hop, or correct the prefixes";
	if (host_owns(&host, neighbor, from->tags) != NULL)
		return "that is the port's own address";
	pthread_mutex_lock(&lock);
	wrong = trial_active() ? "a trial runs: ask before it or after it"
			       : ask_all(responder, from, neighbor, resolved, why);
	pthread_mutex_unlock(&lock);
	if (wrong == NULL)
		keep(&(struct neighbor){port, *neighbor, from->tags, resolved->mac, rte_rdtsc()});
	return wrong;
}
