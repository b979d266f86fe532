/* SPDX-License-Identifier: BSD-3-Clause */
#include "sender.h"

#include "core/memory.h"
#include "core/worker.h"
#include "tester_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned senders_of(const struct port *port)
{
	/* Connections are one worker's. */
	return tester.connections != NULL ? 1 : RTE_MAX(port->asked_tx_queues, 1);
}

struct tester_sender *sender_new(struct tester_port *port)
{
	struct tester_sender *sender;

	if (tester.nb_senders == TESTER_SENDERS_MAX || port->nb_senders == PORT_QUEUES_MAX)
		return NULL;
	sender = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*sender));
	if (sender == NULL)
		return NULL;
	memset(sender, 0, sizeof(*sender));
	sender->port = port;
	sender->number = port->nb_senders;
	sender->queue = port_queue(port->port, sender->number);
	port->senders[port->nb_senders++] = sender;
	tester.senders[tester.nb_senders++] = sender;
	return sender;
}

/* Fresh buffers hold no template; stream_fill() goes by this. */
static void clear_tag(__rte_unused struct rte_mempool *pool, __rte_unused void *opaque,
	void *object, __rte_unused unsigned index)
{
	struct rte_mbuf *mbuf = object;

	mbuf->hash.fdir.hi = 0;
	memset(mbuf->buf_addr, 0, mbuf->buf_len);
}

/* One that only receives, or sends what connections make, needs no buffers for streams. */
static int create_pool(struct tester_sender *sender, struct stream *const *streams, unsigned count)
{
	const struct port *port = sender->port->port;
	uint16_t frame_bytes = 64;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (count == 0 && !tester.takes_profiles)
		return 0;
	if (tester.takes_profiles)
		frame_bytes = RTE_MAX(frame_bytes, port->max_frame_bytes);
	for (unsigned i = 0; i < count; i++)
		frame_bytes = RTE_MAX(frame_bytes, streams[i]->frame_bytes);
	snprintf(name, sizeof(name), "stream-%u-%u", port->index, sender->number);
	sender->pool = memory_packet_pool(name, SENDER_BUFFERS, frame_bytes);
	if (sender->pool == NULL)
		return -ENOMEM;
	rte_mempool_obj_iter(sender->pool, clear_tag, NULL);
	return 0;
}

/* In cache lines that no other sender has. */
static struct schedule *new_schedules(unsigned count)
{
	size_t bytes = RTE_ALIGN_CEIL(count * sizeof(struct schedule), RTE_CACHE_LINE_SIZE);
	struct schedule *schedules = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);

	if (schedules != NULL)
		memset(schedules, 0, bytes);
	return schedules;
}

/* Whether its schedules are looked at in their turn: several, or one with times of its own. */
static bool has_turns(const struct tester_sender *sender)
{
	const struct schedule *first = sender->schedules;

	return sender->nb_schedules > 1 || (first->uneven && first->at == NULL);
}

static int create_schedules(
	struct tester_sender *sender, struct stream *const *streams, unsigned count)
{
	struct stream **continuous = calloc(count + 1, sizeof(*continuous));
	unsigned nb_continuous = 0;
	int rc = 0;

	sender->schedules = new_schedules(count + 1);
	if (continuous == NULL || sender->schedules == NULL) {
		free(continuous);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < count; i++)
		if (!schedule_alone(streams[i]) && streams[i]->pps > 0)
			continuous[nb_continuous++] = streams[i];
	if (nb_continuous > 0)
		rc = schedule_create(
			&sender->schedules[sender->nb_schedules++], continuous, nb_continuous);
	for (unsigned i = 0; i < count && rc == 0; i++)
		if (schedule_alone(streams[i]))
			rc = schedule_create(
				&sender->schedules[sender->nb_schedules++], &streams[i], 1);
	free(continuous);
	return rc != 0 || !has_turns(sender) ? rc
					     : due_heap_create(&sender->due, sender->nb_schedules);
}

int sender_create(struct tester_sender *sender, struct stream *const *streams, unsigned count)
{
	int rc = create_pool(sender, streams, count);

	for (unsigned i = 0; i < count; i++)
		sender->nb_stamped += streams[i]->stamped;
	return rc != 0 ? rc : create_schedules(sender, streams, count);
}

/* Its nodes' names end so: the first has its port's name. */
struct suffix {
	char text[RTE_NODE_NAMESIZE];
};

static struct suffix suffix_of(const struct tester_sender *sender)
{
	const char *port = sender->port->port->name;
	struct suffix suffix;

	if (sender->number == 0)
		snprintf(suffix.text, sizeof(suffix.text), "%s", port);
	else
		snprintf(suffix.text, sizeof(suffix.text), "%s-%u", port, sender->number);
	return suffix;
}

struct sender_nodes sender_nodes(const struct tester_sender *sender)
{
	struct suffix suffix = suffix_of(sender);
	struct sender_nodes names;

	snprintf(names.wire, sizeof(names.wire), "tester-tx-%.40s", suffix.text);
	snprintf(names.made, sizeof(names.made), "tester-%s-%.40s",
		tester.burn_clocks == 0 ? "tx" : "burn", suffix.text);
	return names;
}

int sender_create_tx(struct tester_sender *sender, struct worker *worker)
{
	struct sender_nodes names = sender_nodes(sender);
	const char *const to_wire[] = {names.wire, NULL};
	struct suffix suffix = suffix_of(sender);

	if (node_clone("tester-tx", suffix.text, sender, NULL) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	if (tester.burn_clocks != 0 &&
		node_clone("tester-burn", suffix.text, sender, to_wire) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	worker_add_node(worker, names.wire);
	return 0;
}

int sender_create_generator(struct tester_sender *sender, struct worker *worker)
{
	struct sender_nodes names = sender_nodes(sender);
	const char *const made_and_kept[] = {names.made, names.wire, NULL};
	struct suffix suffix = suffix_of(sender);
	char generator[RTE_NODE_NAMESIZE];

	snprintf(generator, sizeof(generator), "generator-%.40s", suffix.text);
	if (node_clone("generator", suffix.text, sender, made_and_kept) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	worker_add_node(worker, generator);
	return 0;
}
