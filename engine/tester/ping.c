/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping.h"

#include "responder.h"
#include "trial.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <stdio.h>
#include <unistd.h>

#define POLL_US 100
#define ICMP4_TIME_EXCEEDED 11
#define ICMP6_TIME_EXCEEDED 3

/* One request at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint16_t nb_pings;

const char *ping_result_name(enum ping_result result)
{
	static const char *const names[] = {"no answer", "answered", "unreachable", "ttl exceeded"};

	return names[result];
}

static uint32_t state_of(const struct responder_ping *request)
{
	return __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
}

/* Has the worker send it. One of before that the worker still has is given back first. */
static void send_request(struct responder *responder, const struct host_echo *echo)
{
	struct responder_ping *request = &responder->ping;

	rte_spinlock_lock(&responder->question.lock);
	__atomic_store_n(&request->state, PING_NONE, __ATOMIC_RELEASE);
	request->echo = *echo;
	__atomic_store_n(&request->state, PING_WANTED, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&responder->question.lock);
	__atomic_add_fetch(&responder->asks, 1, __ATOMIC_RELEASE);
}

/* Later answers are not waited for. */
static void close_request(struct responder *responder)
{
	rte_spinlock_lock(&responder->question.lock);
	__atomic_store_n(&responder->ping.state, PING_NONE, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&responder->question.lock);
}

static enum ping_result refusal_of(const struct responder_ping *request)
{
	uint8_t exceeded =
		request->by.family == ADDRESS_IP6 ? ICMP6_TIME_EXCEEDED : ICMP4_TIME_EXCEEDED;

	return request->type == exceeded ? PING_EXCEEDED : PING_UNREACHABLE;
}

static void read_reply(const struct responder_ping *request, struct ping_reply *reply)
{
	bool replied = state_of(request) == PING_REPLIED;

	reply->result = replied ? PING_ANSWERED : refusal_of(request);
	reply->rtt_ns = (uint64_t)((double)(request->heard_tsc - request->sent_tsc) * 1e9 /
				   (double)rte_get_tsc_hz());
	reply->by = request->by;
	reply->ttl = request->ttl;
	reply->type = request->type;
	reply->code = request->code;
}

static void ping_once(struct responder *responder, const struct host_echo *echo,
	unsigned timeout_ms, struct ping_reply *reply)
{
	struct responder_ping *request = &responder->ping;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * timeout_ms;

	*reply = (struct ping_reply){.sequence = echo->sequence};
	send_request(responder, echo);
	while (state_of(request) < PING_REPLIED && rte_rdtsc() < end)
		usleep(POLL_US);
	if (state_of(request) >= PING_REPLIED)
		read_reply(request, reply);
	close_request(responder);
}

static const char *ping_all(struct responder *responder, const struct ping_order *order,
	struct host_echo *echo, struct ping_reply *replies)
{
	echo->to = order->destination;
	echo->bytes = order->bytes;
	echo->ttl = order->ttl;
	pthread_mutex_lock(&lock);
	echo->identifier = ++nb_pings;
	for (unsigned i = 0; i < order->count; i++) {
		if (trial_active()) {
			pthread_mutex_unlock(&lock);
			return "a trial runs: ping before it or after it";
		}
		echo->sequence = (uint16_t)(i + 1);
		ping_once(responder, echo, order->timeout_ms, &replies[i]);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

const char *ping(const struct ping_order *order, struct ping_reply *replies,
	struct resolved *next_hop, char why[RESOLVE_WHY_BYTES])
{
	struct responder *responder = responders[order->port->index];
	const struct host_address *from;
	struct host_echo echo = {0};
	struct ip_address hop;
	struct host host;
	const char *wrong;

	if (responder == NULL)
		return "expected a port of the tester's";
	host = responder_host(responder);
	from = host_route(&host, &order->destination, order->tags, &hop);
	if (from == NULL)
		return host.nb_addresses == 0 ? "the port has no address: /linerate/responder/set"
					      : "on no subnet of the port, and there is no gateway";
	echo.from = *from;
	wrong = resolve(order->port, &hop, &from->tags, next_hop, why);
	if (wrong != NULL)
		return wrong;
	echo.mac = next_hop->mac;
	return ping_all(responder, order, &echo, replies);
}
