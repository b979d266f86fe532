/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker is one lcore that walks one rte_graph. Its time ledger: each clock of
 * the TSC goes to a node's call that did something, to a node's poll that found
 * nothing, to the loop itself, to sleep (rx modes interrupt and adaptive), or to being away
 * (the kernel ran something else).
 */
#ifndef LINERATE_WORKER_H
#define LINERATE_WORKER_H

#include <rte_atomic.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_graph.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS_MAX 64
#define WORKER_NODES_MAX 1024

enum worker_role {
	WORKER_TESTER = 1,
	WORKER_FORWARDER = 2,
	WORKER_BOTH = 3,
};

/* Counters of one worker in one node. Written by the worker alone. */
struct node_stats {
	uint64_t calls;
	uint64_t vectors;
	uint64_t clocks;
	uint64_t idle_calls;
	uint64_t idle_clocks;
	/* Packets for which another node did this one's work: its cycles are counted there. */
	uint64_t fused_calls;
	uint64_t fused_vectors;
	uint64_t reserved;
};
_Static_assert(sizeof(struct node_stats) == RTE_CACHE_LINE_SIZE, "one line a node");

enum worker_request {
	WORKER_WALK,
	WORKER_STOP,
	WORKER_TRACE,          /* walk, and trace packets (trace.h) until it is over */
	WORKER_ROUNDTRIP_PING, /* measure, as the side that keeps time */
	WORKER_ROUNDTRIP_PONG,
};

/* Method by which a worker detects received packets; VPP's words. */
enum rx_mode {
	RX_POLLING,
	RX_INTERRUPT, /* sleeps as soon as nothing came for some polls */
	RX_ADAPTIVE,  /* the same, but only after nothing came for a while */
};
#define RX_MODES 3
const char *rx_mode_name(enum rx_mode mode);

struct waker;

struct worker {
	char name[32];
	enum worker_role role;
	enum rx_mode rx_mode;
	bool takes_turns;         /* another worker has the same CPU */
	struct waker *waker;      /* NULL: it never sleeps */
	unsigned index;           /* among all workers */
	unsigned forwarder_index; /* among the forwarder's: its tx queue and rx queue share */
	unsigned tester_index;    /* among the tester's */
	unsigned lcore;
	int cpu;
	int socket; /* for allocations */
	pid_t tid;
	rte_graph_t graph_id;
	struct rte_graph *graph;
	const char **patterns; /* of the graph's nodes */
	unsigned nb_patterns;

	/* Control thread to worker. */
	uint32_t request __rte_cache_aligned; /* enum worker_request */
	struct worker *peer;
	uint64_t stall_limit; /* clocks: an idle poll that took longer was interrupted */

	/* Worker to control thread. */
	uint64_t loops __rte_cache_aligned;
	uint64_t overhead_clocks;
	uint64_t away_clocks;
	uint64_t long_stalls; /* longer than a call takes, shorter than what counts as away */
	uint64_t sleep_clocks;
	uint64_t sleeps;
	uint64_t asleep_since; /* TSC; 0 while awake */
	uint64_t started_tsc;
	uint64_t last_tsc;      /* up to which the cycles above and of the nodes are accounted */
	uint64_t waiting_since; /* TSC; 0: no node waits on purpose */
	uint64_t waited_clocks; /* of a wait that has ended and is not accounted yet */
	rte_node_t waiting_node;
	uint32_t state; /* the request that is being carried out */
	uint32_t roundtrip_min_clocks;
	uint32_t roundtrip_median_clocks;

	/* The last time for which it was descheduled, or stalled, for others' workers to read. */
	uint64_t away_since __rte_cache_aligned;
	uint64_t away_until;

	struct node_stats nodes[WORKER_NODES_MAX] __rte_cache_aligned;
};

/* A call that takes longer than this was interrupted: no vector of 256 needs it. */
#define WORKER_AWAY_US 100
/* The same of a poll that found nothing, and of the way from one walk to the next. */
#define WORKER_STALL_US 5
/* A call of one node that takes longer than this was interrupted, too: 256 packets of 400 cycles
 * each need 40 us. A ring of 1024 lasts 69 us at 10 Gb/s. */
#define WORKER_CALL_US 50
/* Unless the kernel sends them one by one, at 1 to 3 us each. */
#define WORKER_AWAY_SYSTEM_CALLS_US 1500

/* Before workers start: a call of a node may be a system call or several. */
void workers_expect_system_calls(void);
uint64_t worker_away_limit(void);
uint64_t worker_call_limit(void);
uint64_t worker_stall_limit(void);

/* A node that waits on purpose says so around it, at most once a call, and is not taken for
 * away. `clocks` of the wait were spent as it wanted. */
static inline void worker_wait_start(struct worker *worker, rte_node_t node)
{
	worker->waiting_node = node;
	__atomic_store_n(&worker->waiting_since, rte_rdtsc(), __ATOMIC_RELEASE);
}

static inline void worker_wait_end(struct worker *worker, uint64_t clocks)
{
	/* A longer call the worker's walk looks at, and ends the wait when it is accounted. */
	if (rte_rdtsc() - worker->waiting_since > worker_call_limit())
		worker->waited_clocks = clocks;
	else
		__atomic_store_n(&worker->waiting_since, 0, __ATOMIC_RELEASE);
}

/* For such a node: it is not to wait any more. */
static inline bool worker_stopping(const struct worker *worker)
{
	return __atomic_load_n(&worker->request, __ATOMIC_RELAXED) == WORKER_STOP;
}

/* Plans roles and CPUs. Returns the number of workers, or -1 after saying why. */
int workers_plan(const int *cpus, unsigned nb_cpus, unsigned testers, unsigned forwarders,
	enum rx_mode rx_mode);
/* With EAL up: gives the forwarder's workers what they need to sleep. Returns 0 or -errno after
 * saying why. */
int workers_create_wakers(void);
unsigned workers_count(void);
struct worker *worker_at(unsigned index);
/* Whether some worker was descheduled or stalled for a part of the time between two points of the
 * TSC, the second of which is now or nearly: only each one's last pause is known. */
bool worker_away_within(uint64_t since, uint64_t until);
struct worker *worker_find(const char *name);
struct worker *worker_of_tester(unsigned tester_index);
unsigned workers_testers(void);
struct worker *worker_of_forwarder(unsigned forwarder_index);
unsigned workers_forwarders(void);
/* CPU of the thread that configures and answers. */
int workers_main_cpu(void);
/* Where the worker counts what the node named `node` does; NULL when there is none. */
struct node_stats *worker_node_stats(struct worker *worker, const char *node);
/* One sentence that says who runs where. */
const char *workers_layout(void);

/* Adds a node (by name) to what the worker walks. */
void worker_add_node(struct worker *worker, const char *node);
/* Builds every worker's graph. Returns 0, or -errno after saying why. */
int workers_create_graphs(int socket);
/* The worker whose graph is being built: for node init(). */
struct worker *worker_creating(void);
int workers_start(void);
/* Asks a worker that has nothing else to do than to walk; returns whether it was. */
bool worker_ask_walking(struct worker *worker, enum worker_request request);
void workers_stop(void);
/* Round trip of a cache line between the two, in cycles; both must be walking. */
int worker_roundtrip(struct worker *ping, struct worker *pong);

#endif
