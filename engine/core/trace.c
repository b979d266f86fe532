/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXTS_MAX 512
/* Workers look at what they are asked once a walk. */
#define STOP_WAIT_US 100
#define STOP_WAITS 20000

/* Counters of a node, before and after one packet. */
struct counts {
	uint64_t drops[NODE_REASONS_MAX];
	uint64_t held;
	uint64_t fused[NODE_FUSED_MAX];
};

static struct {
	char node[RTE_NODE_NAMESIZE];
	rte_node_t id;
	bool armed;       /* atomic, as what follows */
	unsigned count;   /* packets asked for */
	unsigned claimed; /* that have begun */
	struct trace_packet *packets;
} trace;

/* Packets under way, of each worker; none outlasts a walk. */
static struct {
	unsigned count;
	struct trace_packet *packets[TRACE_PACKETS_MAX];
} under_way[WORKERS_MAX];

bool trace_is_over(void)
{
	return !__atomic_load_n(&trace.armed, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&trace.claimed, __ATOMIC_RELAXED) >= trace.count;
}

static struct trace_packet *claim(void)
{
	unsigned index = __atomic_fetch_add(&trace.claimed, 1, __ATOMIC_RELAXED);

	return index < trace.count ? &trace.packets[index] : NULL;
}

static struct trace_packet *find(const struct worker *worker, const struct rte_mbuf *mbuf)
{
	for (unsigned i = 0; i < under_way[worker->index].count; i++)
		if (under_way[worker->index].packets[i]->mbuf == mbuf)
			return under_way[worker->index].packets[i];
	return NULL;
}

static void end(struct trace_packet *packet)
{
	packet->mbuf = NULL;
	__atomic_store_n(&packet->ended, true, __ATOMIC_RELEASE);
}

static void begin(
	struct trace_packet *packet, const struct worker *worker, const struct rte_mbuf *mbuf)
{
	memset(packet, 0, sizeof(*packet));
	packet->worker = worker;
	packet->mbuf = mbuf;
	packet->port = mbuf->port;
	packet->length = mbuf->pkt_len;
	memcpy(packet->frame, rte_pktmbuf_mtod(mbuf, const void *),
		RTE_MIN(mbuf->data_len, (uint16_t)TRACE_FRAME_BYTES));
}

static void follow(struct worker *worker, struct trace_packet *packet)
{
	under_way[worker->index].packets[under_way[worker->index].count++] = packet;
}

static void read_counts(const struct worker *worker, struct rte_node *node, struct counts *counts)
{
	const struct node_state *state = node_state(node);

	memcpy(counts->drops, state->drops, sizeof(counts->drops));
	counts->held = state->held;
	for (unsigned i = 0; i < NODE_FUSED_MAX && state->type->fused[i] != NULL; i++)
		counts->fused[i] =
			worker->nodes[rte_node_from_name(state->type->fused[i])].fused_vectors;
}

/* The node where the packet lies after it was processed; NULL: none. `before`: how many packets
 * each next node had. */
static const struct rte_node *went_to(
	const struct rte_node *node, const struct rte_mbuf *mbuf, const uint16_t *before)
{
	for (rte_edge_t i = 0; i < node->nb_edges; i++) {
		const struct rte_node *next = node->nodes[i];

		if (next->idx > before[i] && next->objs[next->idx - 1] == mbuf)
			return next;
	}
	return NULL;
}

static void note_lengths(const struct rte_node *node, uint16_t *lengths)
{
	for (rte_edge_t i = 0; i < node->nb_edges; i++)
		lengths[i] = node->nodes[i]->idx;
}

static uint16_t process_some(struct rte_node *node, void **objs, uint16_t count)
{
	uint16_t done;

	memcpy(node->objs, objs, count * sizeof(*objs));
	node->idx = count;
	done = node->process(node_state(node)->worker->graph, node, node->objs, count);
	node->idx = 0;
	return done;
}

static void fill_hop(struct trace_hop *hop, const struct worker *worker, struct rte_node *node,
	const struct counts *before)
{
	const struct node_type *type = node_state(node)->type;
	struct counts after = {0};
	unsigned nb_fused = 0;

	read_counts(worker, node, &after);
	for (unsigned r = 0; r < NODE_REASONS_MAX; r++)
		if (after.drops[r] != before->drops[r])
			hop->reason = type->reasons[r];
	for (unsigned i = 0; i < NODE_FUSED_MAX; i++)
		if (after.fused[i] != before->fused[i])
			hop->fused[nb_fused++] = type->fused[i];
	hop->node = node->id;
	hop->outcome = after.held > before->held ? TRACE_HELD : TRACE_LEFT;
}

/* The packet alone, with what the node does with it in `hop`. */
static uint16_t process_one(
	struct worker *worker, struct rte_node *node, struct rte_mbuf *mbuf, struct trace_hop *hop)
{
	const struct node_type *type = node_state(node)->type;
	uint16_t lengths[NEXTS_MAX], done;
	const struct rte_node *next;
	struct counts before = {0};
	void *obj = mbuf;

	memset(hop, 0, sizeof(*hop));
	if (type->trace != NULL)
		type->trace(node, mbuf, hop->text, sizeof(hop->text));
	read_counts(worker, node, &before);
	note_lengths(node, lengths);
	done = process_some(node, &obj, 1);
	fill_hop(hop, worker, node, &before);
	next = went_to(node, mbuf, lengths);
	if (next != NULL) {
		hop->next = next->id;
		hop->outcome = TRACE_SENT_ON;
	}
	return done;
}

static void add_hop(struct worker *worker, struct trace_packet *packet, const struct trace_hop *hop)
{
	if (packet->nb_hops < TRACE_HOPS_MAX)
		packet->hops[packet->nb_hops++] = *hop;
	else
		packet->cut = true;
	if (hop->outcome == TRACE_SENT_ON)
		return;
	for (unsigned i = 0; i < under_way[worker->index].count; i++)
		if (under_way[worker->index].packets[i] == packet)
			under_way[worker->index].packets[i] =
				under_way[worker->index].packets[--under_way[worker->index].count];
	end(packet);
}

/* Whether the hop did the work of the node where the trace starts. */
static bool did_work_of_start(const struct trace_hop *hop)
{
	for (unsigned i = 0; i < NODE_FUSED_MAX && hop->fused[i] != NULL; i++)
		if (strcmp(hop->fused[i], trace.node) == 0)
			return true;
	return false;
}

/* A packet that may turn out to be one to trace, when its node does the work of the start's. */
static uint16_t process_candidate(
	struct worker *worker, struct rte_node *node, struct rte_mbuf *mbuf)
{
	struct trace_packet *packet;
	struct trace_packet start;
	struct trace_hop hop;
	uint16_t done;

	begin(&start, worker, mbuf);
	done = process_one(worker, node, mbuf, &hop);
	packet = did_work_of_start(&hop) ? claim() : NULL;
	if (packet == NULL)
		return done;
	*packet = start;
	follow(worker, packet);
	add_hop(worker, packet, &hop);
	return done;
}

/* Sources have no packets before they are called: what they sent on is looked at. */
static uint16_t process_source(struct worker *worker, struct rte_node *node)
{
	uint16_t lengths[NEXTS_MAX] = {0}, done;

	note_lengths(node, lengths);
	done = node->process(worker->graph, node, node->objs, node->idx);
	for (rte_edge_t e = 0; e < node->nb_edges && node->id == trace.id; e++) {
		const struct rte_node *next = node->nodes[e];

		for (uint16_t i = lengths[e]; i < next->idx && !trace_is_over(); i++) {
			struct trace_hop hop = {.node = node->id, .next = next->id};
			struct trace_packet *packet =
				find(worker, next->objs[i]) == NULL ? claim() : NULL;

			if (packet == NULL)
				continue;
			begin(packet, worker, next->objs[i]);
			follow(worker, packet);
			add_hop(worker, packet, &hop);
		}
	}
	return done;
}

static bool does_work_of_start(const struct node_type *type)
{
	for (unsigned i = 0; i < NODE_FUSED_MAX && type->fused[i] != NULL; i++)
		if (strcmp(type->fused[i], trace.node) == 0)
			return true;
	return false;
}

/* The packet's own, when it is traced or becomes so at this node. */
static struct trace_packet *packet_of(
	struct worker *worker, const struct rte_node *node, const struct rte_mbuf *mbuf)
{
	struct trace_packet *packet = find(worker, mbuf);

	if (packet != NULL || node->id != trace.id || trace_is_over())
		return packet;
	packet = claim();
	if (packet == NULL)
		return NULL;
	begin(packet, worker, mbuf);
	follow(worker, packet);
	return packet;
}

/* In the packets' order: traced ones alone, those between them together. */
static uint16_t process_vector(
	struct worker *worker, struct rte_node *node, void **objs, uint16_t count)
{
	bool candidates = does_work_of_start(node_state(node)->type);
	uint16_t done = 0, first = 0;

	for (uint16_t i = 0; i < count; i++) {
		struct trace_packet *packet = packet_of(worker, node, objs[i]);
		bool candidate = packet == NULL && candidates && !trace_is_over();
		struct trace_hop hop;

		if (packet == NULL && !candidate)
			continue;
		if (first < i)
			done += process_some(node, objs + first, i - first);
		first = i + 1;
		if (candidate) {
			done += process_candidate(worker, node, objs[i]);
			continue;
		}
		done += process_one(worker, node, objs[i], &hop);
		add_hop(worker, packet, &hop);
	}
	if (first < count)
		done += process_some(node, objs + first, count - first);
	return done;
}

uint16_t trace_process(struct worker *worker, struct rte_node *node)
{
	void *objs[NODE_VECTOR_MAX];
	uint16_t count = node->idx, done = 0;
	void **all;

	if (node->nb_edges > NEXTS_MAX)
		return node->process(worker->graph, node, node->objs, count);
	if (count == 0)
		return process_source(worker, node);
	if (count <= NODE_VECTOR_MAX) {
		memcpy(objs, node->objs, count * sizeof(*objs));
		return process_vector(worker, node, objs, count);
	}
	/* More than a vector came together: in parts, which the node takes as well. */
	all = malloc(count * sizeof(*all));
	if (all == NULL)
		return node->process(worker->graph, node, node->objs, count);
	memcpy(all, node->objs, count * sizeof(*all));
	for (uint16_t i = 0; i < count; i += NODE_VECTOR_MAX)
		done += process_vector(worker, node, all + i,
			RTE_MIN((uint16_t)(count - i), (uint16_t)NODE_VECTOR_MAX));
	free(all);
	return done;
}

void trace_walk_end(struct worker *worker)
{
	for (unsigned i = 0; i < under_way[worker->index].count; i++)
		end(under_way[worker->index].packets[i]);
	under_way[worker->index].count = 0;
}

static bool any_traces(void)
{
	for (unsigned i = 0; i < workers_count(); i++)
		if (__atomic_load_n(&worker_at(i)->request, __ATOMIC_ACQUIRE) == WORKER_TRACE)
			return true;
	return false;
}

/* Returns once no worker is in a traced walk. */
void trace_stop(void)
{
	__atomic_store_n(&trace.armed, false, __ATOMIC_RELEASE);
	for (unsigned waits = 0; any_traces() && waits < STOP_WAITS; waits++)
		usleep(STOP_WAIT_US);
}

static bool has_node(const struct worker *worker, const char *node)
{
	return worker->graph != NULL && rte_graph_node_get_by_name(worker->name, node) != NULL;
}

static unsigned ask_workers(const char *node)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < workers_count(); i++) {
		struct worker *worker = worker_at(i);

		if (has_node(worker, node))
			asked += worker_ask_walking(worker, WORKER_TRACE);
	}
	return asked;
}

const char *trace_start(const char *node, unsigned count)
{
	rte_node_t id = rte_node_from_name(node);

	if (count == 0 || count > TRACE_PACKETS_MAX)
		return "expected a count from 1 to 100";
	if (id == RTE_NODE_ID_INVALID)
		return "there is no such node";
	trace_stop();
	if (any_traces())
		return "a worker does not end its trace";
	if (trace.packets == NULL)
		trace.packets = calloc(TRACE_PACKETS_MAX, sizeof(*trace.packets));
	if (trace.packets == NULL)
		return "no memory";
	memset(trace.packets, 0, TRACE_PACKETS_MAX * sizeof(*trace.packets));
	snprintf(trace.node, sizeof(trace.node), "%s", node);
	trace.id = id;
	trace.count = count;
	trace.claimed = 0;
	__atomic_store_n(&trace.armed, true, __ATOMIC_RELEASE);
	if (ask_workers(node) > 0)
		return NULL;
	__atomic_store_n(&trace.armed, false, __ATOMIC_RELEASE);
	return "no worker walks that node";
}

const char *trace_node(void)
{
	return trace.packets == NULL ? NULL : trace.node;
}

unsigned trace_count(void)
{
	return trace.count;
}

const struct trace_packet *trace_packet(unsigned index)
{
	if (trace.packets == NULL || index >= trace.count ||
		!__atomic_load_n(&trace.packets[index].ended, __ATOMIC_ACQUIRE))
		return NULL;
	return &trace.packets[index];
}

unsigned trace_ended(void)
{
	unsigned ended = 0;

	while (trace_packet(ended) != NULL)
		ended++;
	return ended;
}
