/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder.h"

#include "capture/capture_tap.h"

#include <rte_cycles.h>

struct responder *responders[PORTS_MAX];

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

static bool answer(struct responder *responder, const struct host *host,
	const struct host_heard *heard, const struct rte_mbuf *mbuf)
{
	struct rte_mbuf *made = new_frame(responder);

	if (made == NULL) {
		responder->counters.unanswered++;
		return false;
	}
	set_bytes(made, host_answer(host, heard, rte_pktmbuf_mtod(mbuf, uint8_t *),
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
	sought = question->from.address.family != ADDRESS_NONE &&
		 host_tags_same(heard->tags, question->from.tags) &&
		 address_same(&question->neighbor, &heard->neighbor);
	if (sought && question->open) {
		question->mac = heard->mac;
		__atomic_store_n(&question->open, false, __ATOMIC_RELEASE);
	}
	rte_spinlock_unlock(&question->lock);
	return sought;
}

/* Whether the frame is about the echo request that is under way. */
static bool hear_ping(struct responder *responder, const struct host_heard *heard)
{
	struct responder_ping *ping = &responder->ping;
	const struct host_echo *echo = &ping->echo;
	bool is_error = heard->message == HOST_ERROR;
	uint32_t state = PING_SENT;

	if (__atomic_load_n(&ping->state, __ATOMIC_ACQUIRE) != PING_SENT ||
		heard->identifier != echo->identifier || heard->sequence != echo->sequence ||
		!host_tags_same(heard->tags, echo->from.tags) ||
		(!is_error && !address_same(&heard->neighbor, &echo->to)))
		return false;
	ping->heard_tsc = rte_rdtsc();
	ping->by = heard->neighbor;
	ping->ttl = heard->ttl;
	ping->type = heard->type;
	ping->code = heard->code;
	/* Unless the control side has ended its wait just now. */
	return __atomic_compare_exchange_n(&ping->state, &state,
		is_error ? PING_REFUSED : PING_REPLIED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool responder_take(struct responder *responder, const struct rte_mbuf *mbuf)
{
	const struct host *host = __atomic_load_n(&responder->host, __ATOMIC_ACQUIRE);
	struct host_heard heard;
	bool taken;

	if (host->nb_addresses == 0 || mbuf->nb_segs != 1 || mbuf->data_len > responder->room)
		return false;
	heard = host_read(host, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len);
	if (heard.message == HOST_NOTHING)
		return false;
	rte_spinlock_lock(&responder->lock);
	if (host_is_request(heard.message))
		taken = answer(responder, host, &heard, mbuf);
	else if (heard.message == HOST_ECHO_REPLY || heard.message == HOST_ERROR)
		taken = hear_ping(responder, &heard);
	else
		taken = hear(responder, &heard);
	responder->counters.heard[heard.message] += taken;
	rte_spinlock_unlock(&responder->lock);
	return taken;
}

static void ask(struct responder *responder, const struct host *host)
{
	struct responder_question *question = &responder->question;
	struct rte_mbuf *mbuf;

	mbuf = question->open ? new_frame(responder) : NULL;
	if (mbuf == NULL)
		return;
	set_bytes(mbuf, host_ask(host, &question->from, &question->neighbor,
				rte_pktmbuf_mtod(mbuf, uint8_t *)));
	responder->counters.asked++;
}

static void send_ping(struct responder *responder, const struct host *host)
{
	struct responder_ping *ping = &responder->ping;
	struct rte_mbuf *mbuf;

	if (__atomic_load_n(&ping->state, __ATOMIC_ACQUIRE) != PING_WANTED)
		return;
	mbuf = new_frame(responder);
	if (mbuf == NULL)
		return;
	set_bytes(mbuf, host_ping(host, &ping->echo, rte_pktmbuf_mtod(mbuf, uint8_t *)));
	responder->counters.pings++;
	ping->sent_tsc = rte_rdtsc();
	__atomic_store_n(&ping->state, PING_SENT, __ATOMIC_RELEASE);
}

/* Sends what the control side asks for; next time, while it writes it. */
static void look(struct responder *responder)
{
	const struct host *host = __atomic_load_n(&responder->host, __ATOMIC_ACQUIRE);
	uint32_t asks = __atomic_load_n(&responder->asks, __ATOMIC_ACQUIRE);

	if (!rte_spinlock_trylock(&responder->question.lock))
		return;
	ask(responder, host);
	send_ping(responder, host);
	rte_spinlock_unlock(&responder->question.lock);
	responder->asked = asks;
}

uint16_t responder_send(struct responder *responder)
{
	bool asks = __atomic_load_n(&responder->asks, __ATOMIC_ACQUIRE) != responder->asked;
	uint16_t sent;

	if (likely(!asks && __atomic_load_n(&responder->nb_waiting, __ATOMIC_RELAXED) == 0))
		return 0;
	/* In the next walk, then. */
	if (!rte_spinlock_trylock(&responder->lock))
		return 0;
	if (asks)
		look(responder);
	sent = capture_tx_burst(
		port_queue(responder->port, 0), responder->waiting, responder->nb_waiting);
	responder->nb_waiting -= sent;
	memmove(responder->waiting, responder->waiting + sent,
		responder->nb_waiting * sizeof(responder->waiting[0]));
	rte_spinlock_unlock(&responder->lock);
	return sent;
}
