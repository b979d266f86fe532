/* SPDX-License-Identifier: BSD-3-Clause */
#include "tester_worker.h"

#include "core/memory.h"
#include "core/worker.h"
#include "latency.h"
#include "sender.h"
#include "core/signature.h"
#include "tester_state.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <rte_lcore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By which memory for a worker is taken from the kernel. */
#define ROOM_BYTES ((size_t)2 << 20)

void *tester_worker_map(const struct tester_worker *worker, size_t bytes)
{
	unsigned socket = rte_lcore_to_socket_id(worker->worker->lcore);
	unsigned long nodes = 1ul << socket % (8 * sizeof(nodes));
	void *start = memory_map(bytes);

	/* Where the kernel does not do so, it still is memory. */
	if (start != NULL && rte_socket_count() > 1)
		(void)syscall(
			SYS_mbind, start, bytes, MPOL_PREFERRED, &nodes, 8 * sizeof(nodes), 0);
	return start;
}

void *tester_worker_memory(struct tester_worker *worker, size_t bytes)
{
	void *start;

	bytes = RTE_ALIGN_CEIL(bytes, RTE_CACHE_LINE_SIZE);
	if (bytes > worker->room_bytes) {
		size_t whole = RTE_ALIGN_CEIL(bytes, ROOM_BYTES);

		start = tester_worker_map(worker, whole);
		if (start == NULL)
			return NULL;
		worker->room = start;
		worker->room_bytes = whole;
	}
	start = worker->room;
	worker->room += bytes;
	worker->room_bytes -= bytes;
	/* Written now, so that no frame waits for a page. */
	memset(start, 0, bytes);
	return start;
}

/* The part that the port shares with others, or the port itself. */
static const void *shared_by(const struct port *port)
{
	return port->driver->shared == NULL ? port : port->driver->shared(port);
}

/* Number of the port's first sender among those of all ports, where those that share a part count
 * as one: the workers' turn that begins with it. */
static unsigned first_turn(unsigned place)
{
	const void *own = shared_by(tester.ports[place].port);
	unsigned turn = 0;

	for (unsigned i = 0; i < place; i++) {
		const void *other = shared_by(tester.ports[i].port);
		bool first = true;

		if (other == own)
			return first_turn(i);
		for (unsigned j = 0; j < i; j++)
			first &= shared_by(tester.ports[j].port) != other;
		turn += first ? senders_of(tester.ports[i].port) : 0;
	}
	return turn;
}

unsigned tester_worker_of_queue(unsigned place, unsigned queue)
{
	const struct port *port = tester.ports[place].port;
	bool whole = shared_by(port) != port;

	return (first_turn(place) + (whole ? 0 : queue)) % RTE_MAX(tester.nb_workers, 1u);
}

unsigned tester_worker_of_sender(unsigned place, unsigned sender)
{
	return (first_turn(place) + sender) % RTE_MAX(tester.nb_workers, 1u);
}

static struct tester_worker *worker_new(struct worker *thread)
{
	struct tester_worker own = {.worker = thread}, *worker;

	worker = tester_worker_map(&own, sizeof(*worker));
	if (worker == NULL)
		return NULL;
	*worker = own;
	worker->latency_room = tester_worker_map(worker, sizeof(*worker->latency_room));
	return worker->latency_room == NULL ? NULL : worker;
}

void tester_workers_make_room(void)
{
	for (unsigned i = 0; i < tester.nb_workers; i++) {
		struct tester_worker *worker = tester.workers[i];

		while (latency_room_lacks(worker->latency_room) > 0) {
			void *block = tester_worker_memory(
				worker, (size_t)LATENCY_BLOCK * LATENCY_CHUNK * sizeof(uint64_t));

			if (block == NULL)
				break;
			latency_room_add(worker->latency_room, block);
		}
	}
}

int tester_workers_create(void)
{
	for (unsigned i = 0; i < RTE_MIN(workers_testers(), (unsigned)TESTER_WORKERS_MAX); i++) {
		tester.workers[i] = worker_new(worker_of_tester(i));
		if (tester.workers[i] == NULL)
			return -ENOMEM;
		tester.nb_workers++;
	}
	for (unsigned i = 0; i < tester.nb_ports && tester.nb_workers > 0; i++)
		for (unsigned q = 0; q < tester.ports[i].port->nb_rx_queues; q++)
			tester.workers[tester_worker_of_queue(i, q)]->ports |=
				1ull << tester.ports[i].port->index;
	return 0;
}

void tester_workers_stamp(struct port *port)
{
	for (unsigned i = 0; i < tester.nb_ports; i++)
		for (unsigned q = 0; tester.ports[i].port == port && q < port->nb_rx_queues; q++) {
			struct tester_worker *worker = tester.workers[tester_worker_of_queue(i, q)];

			__atomic_store_n(&port_queue(port, q)->received_tsc,
				&worker->received_tsc[port->index], __ATOMIC_RELEASE);
		}
}
