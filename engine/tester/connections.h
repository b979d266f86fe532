/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: the tester replays templates, flow by flow. Each new connection takes a client, a
 * server and a client's port; its packets are sent when they are due, the client's out of one
 * port and the server's out of the other. Nobody answers: who sends when was captured.
 */
#ifndef LINERATE_CONNECTIONS_H
#define LINERATE_CONNECTIONS_H

#include "core/config.h"
#include "connection_frame.h"
#include "connection_pool.h"
#include "connection_ranges.h"
#include "connection_wheel.h"

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#define CONNECTION_TEMPLATES_MAX 4096
#define CONNECTION_PACKETS_MAX 4000000
#define CONNECTIONS_MAX (1u << 24)
/* A tick of the wheel is 4,096 clocks: 1 to 2 us. */
#define CONNECTION_TICK_BITS 12
/* That are made in one go: what they need fits into the nearest cache. */
#define CONNECTION_BATCH 64

struct ledger;
struct tester_port;
struct worker;

enum not_started {
	NOT_STARTED_NO_PORT, /* no client's port is free */
	NOT_STARTED_LIMIT,   /* as many as the template may have at a time live */
	NOT_STARTED_FULL,    /* as many as there is room for live */
};
#define NOT_STARTED_REASONS 3

struct connection_template {
	double period_clocks;     /* of the trial; between two starts */
	double phase;             /* of the first start, in periods */
	uint64_t begun, to_begin; /* in the trial, those that could not start too */
	uint32_t first_packet, nb_packets;
	uint32_t active, limit; /* 0: none */
	unsigned weight;        /* successive connections of one client */
	unsigned client_left;
	uint32_t client; /* host order */
	bool one_server;
	uint32_t server; /* host order */
	struct connection_pool *pools[CONNECTION_SIDES];

	uint64_t started, finished, cut;
	uint64_t not_started[NOT_STARTED_REASONS];
	uint64_t packets[CONNECTION_SIDES], bytes[CONNECTION_SIDES]; /* sent, FCS counted */

	double cps; /* at full scale */
	char name[64];
} __rte_cache_aligned;

/* A living connection. */
struct connection {
	uint64_t due; /* cycles since the trial began */
	uint32_t packet, end;
	struct connection_words words;
	uint16_t template;
};
_Static_assert(sizeof(struct connection) <= 40, "two of three share a line at most");

struct connections {
	/* Written by the tester's worker. */
	/* Connections, then templates that wait for a start. */
	struct connection_wheel wheel __rte_cache_aligned;
	struct connection *living;
	uint32_t *free_numbers;
	uint32_t nb_free;
	struct connection_packet *packets;
	struct connection_template *templates;
	unsigned nb_templates;
	uint32_t nb_packets, max_active;
	struct connection_ports client_ports;
	struct connection_pool *pools[CONNECTION_SIDES];
	unsigned nb_pools[CONNECTION_SIDES];
	struct connection_ranges addresses[CONNECTION_SIDES]; /* that anybody has */
	struct rte_mempool *mbufs;
	struct tester_port *ports[CONNECTION_SIDES];
	uint32_t trial;        /* that it has taken up */
	uint64_t last_due;     /* in the trial, cycles since it began: of the packets sent */
	uint64_t asked, paced; /* in the trial: the time of the last call, and what it went by */
	uint64_t slice_clocks; /* of what passed since the last call, no more counts */
	/* Due time of the first packet that follows one of the other side sent in this call. */
	uint64_t next_turn;

	/* As in the configuration. */
	int port_indices[CONNECTION_SIDES];
	struct connection_prefixes prefixes;
	struct rte_ether_addr src[CONNECTION_SIDES], dst[CONNECTION_SIDES];
	bool has_src[CONNECTION_SIDES];
	double *gaps_us;
};

/* Reads the "connections" object. Returns NULL after counting mistakes. */
struct connections *connections_parse(const struct config_node *node);
void connections_free(struct connections *connections);
/* Its pools: "clients", "servers" and "order"; without mistakes each side has one at least. */
void connections_parse_pools(struct connections *connections, const struct config_node *node);
/* The pools that a template names: the first ones unless it does. */
void connections_parse_choice(struct connections *connections, struct connection_template *template,
	const struct config_node *node);
/* With ports configured: tables, frames. Returns 0 or -errno after saying why. */
int connections_create(struct connections *connections);
/* Clones the nodes that make frames; `made` and `kept` are where a side's go. */
int connections_create_nodes(struct connections *connections, struct worker *worker,
	const char *const *made, const char *const *kept);

/* At full scale, of a side. */
double connections_pps(const struct connections *connections, enum connection_side side);
double connections_l1_bps(const struct connections *connections, enum connection_side side);
/* Connections of the template that begin in a trial. */
uint64_t connections_to_begin(
	const struct connection_template *template, double seconds, double scale);
uint64_t connections_asked(const struct connections *connections, double seconds, double scale);
uint64_t connections_sent(const struct connections *connections, enum connection_side side);
/* Received packets that the side sent. */
uint64_t connections_received_from(enum connection_side side);
uint64_t connections_received(void);

/* The worker's: a trial begins. */
void connections_start(struct connections *connections, double seconds, double scale, double hertz);
/* No connection lives any more: those that do are cut off. What they had is in use until
 * connections_clear(). */
void connections_cut(struct connections *connections);
/* All numbers and clients' ports are free again; which come next stays. It may take 0.1 s, so it
 * is the control thread's, before a trial. */
void connections_clear(struct connections *connections);
/* Number of active connections. */
uint64_t connections_active(const struct connections *connections);
/*
 * Time up to which packets are due for a worker that polls `elapsed` cycles after the trial began.
 * One that was late catches up at no more than 1 / SCHEDULE_CATCH_UP of the rate: sending all late
 * packets at once would overflow a device's ring, and the loss would count as the device's.
 */
uint64_t connections_pace(struct connections *connections, uint64_t elapsed);
/*
 * Takes up to `room` that have a packet to send before `elapsed` cycles since the trial began, new
 * ones too; each must be sent or put back. Returns their number.
 */
unsigned connections_due(
	struct connections *connections, uint64_t elapsed, uint32_t *numbers, unsigned room);
/* Its packet was sent: it waits for the next, or ends. */
void connections_sent_one(struct connections *connections, uint32_t number);
void connections_put_back(struct connections *connections, const uint32_t *numbers, unsigned count);

static inline uint64_t connection_tick(uint64_t clocks)
{
	return clocks >> CONNECTION_TICK_BITS;
}

#endif
