/* SPDX-License-Identifier: BSD-3-Clause */
#include "burn.h"

#include "core/worker.h"
#include "burn_lock.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_pause.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS_MAX 1000000
#define CALL_CLOCKS_MAX 100000000
#define CONTENTION_CLOCKS_MAX 100000
#define PAUSE_EVERY_MAX_US 10000000
#define PAUSE_MAX_US 100000
/*
 * A sleep takes some tens of microseconds more than asked for, so debts are gathered up to this
 * before one, and what it took too long is credited to the packets that come. Not more than a
 * worker may be late on a busy machine: it would not burn for long then.
 */
#define SLEEP_MIN_US 50
#define CREDIT_MAX_US 20000
/* In the midst of its walk a worker is a reader of all that RCU guards, and cannot be stopped:
 * so long at most does it not look whether it is to stop. */
#define SLEEP_MAX_US 20000
/* A sleep that woke so much too early was long enough. */
#define EARLY_US 5

/* Returns the cycles that were used up by the configured method. */
typedef uint64_t (*burn_t)(const struct worker *worker, uint64_t clocks, uint16_t packets);

static bool present;
static uint64_t packet_clocks, call_clocks;
static uint64_t pause_every_us, pause_for_us;
static uint64_t least_clocks, credit_clocks; /* known once there is a TSC rate */
static burn_t burn;
static struct burner burners[PORT_QUEUES_MAX];

static uint64_t us_clocks(uint64_t us)
{
	return us * (rte_get_tsc_hz() / 1000000);
}

/* Time in which the worker was descheduled does not count, as with any other work. */
static uint64_t burn_by_spin(
	const struct worker *worker, uint64_t clocks, __rte_unused uint16_t packets)
{
	const uint64_t away_limit = worker_away_limit();
	uint64_t last = rte_rdtsc(), burnt = 0;

	while (burnt < clocks && !worker_stopping(worker)) {
		uint64_t now;

		rte_pause();
		now = rte_rdtsc();
		burnt += now - last <= away_limit ? now - last : 0;
		last = now;
	}
	return burnt;
}

/* One system call a packet at least. */
static uint64_t burn_by_syscall(const struct worker *worker, uint64_t clocks, uint16_t packets)
{
	const uint64_t away_limit = worker_away_limit();
	uint64_t last = rte_rdtsc(), burnt = 0;

	for (unsigned calls = 0; burnt < clocks || calls < packets; calls++) {
		uint64_t now;

		if (worker_stopping(worker))
			break;
		(void)syscall(SYS_getppid);
		now = rte_rdtsc();
		burnt += now - last <= away_limit ? now - last : 0;
		last = now;
	}
	return burnt;
}

static void sleep_once(__rte_unused const struct worker *worker, uint64_t clocks)
{
	struct timespec time = {.tv_nsec = (long)(clocks * 1000000000 / rte_get_tsc_hz())};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Sleeps, so that several slow workers can share a CPU. */
static __rte_always_inline uint64_t burn_off_cpu(const struct worker *worker, uint64_t clocks,
	void (*wait_once)(const struct worker *worker, uint64_t clocks))
{
	const uint64_t early = us_clocks(EARLY_US);
	uint64_t start = rte_rdtsc(), end = start + clocks, now = start;

	while (now + early < end && !worker_stopping(worker)) {
		wait_once(worker, RTE_MIN(end - now, us_clocks(SLEEP_MAX_US)));
		now = rte_rdtsc();
	}
	return now - start;
}

static uint64_t burn_by_sleep(
	const struct worker *worker, uint64_t clocks, __rte_unused uint16_t packets)
{
	return burn_off_cpu(worker, clocks, sleep_once);
}

static uint64_t burn_by_lock(
	const struct worker *worker, uint64_t clocks, __rte_unused uint16_t packets)
{
	return burn_off_cpu(worker, clocks, burn_lock_wait);
}

static const struct {
	burn_t burn;
	bool sleeps;
} ways[] = {
	{burn_by_spin, false},
	{burn_by_sleep, true},
	{burn_by_syscall, false},
	{burn_by_lock, true},
};
static const char *const way_names[] = {"spin", "sleep", "syscall", "lock", NULL};
static unsigned way;

static void parse_pause(const struct config_node *node)
{
	struct config_node every = config_child(node, "pause_every_us");
	struct config_node pause = config_child(node, "pause_for_us");

	pause_every_us = config_u64(node, "pause_every_us", 0, 0, PAUSE_EVERY_MAX_US);
	pause_for_us = config_u64(node, "pause_for_us", 0, 0, PAUSE_MAX_US);
	if (pause_every_us == 0 && pause_for_us != 0)
		config_mistake(&every, "expected how often, with \"pause_for_us\"");
	if (pause_every_us != 0 && pause_for_us == 0)
		config_mistake(&pause, "expected how long, with \"pause_every_us\"");
}

void burn_parse(const struct config_node *node, unsigned workers)
{
	if (!config_object(node, "clocks", "call_clocks", "contention_clocks", "how",
		    "pause_every_us", "pause_for_us"))
		return;
	present = true;
	packet_clocks =
		config_u64(node, "clocks", 0, 0, CLOCKS_MAX) +
		config_u64(node, "contention_clocks", 0, 0, CONTENTION_CLOCKS_MAX) * (workers - 1);
	call_clocks = config_u64(node, "call_clocks", 0, 0, CALL_CLOCKS_MAX);
	way = (unsigned)config_choice(node, "how", way_names, 0);
	parse_pause(node);
}

bool burn_present(void)
{
	return present;
}

int burn_add_port(const struct port *port, char entry[RTE_NODE_NAMESIZE])
{
	const char *const nexts[] = {entry, NULL};

	if (node_clone("burn", port->name, NULL, nexts) == RTE_NODE_ID_INVALID)
		return -EINVAL;
	snprintf(entry, RTE_NODE_NAMESIZE, "burn-%s", port->name);
	return 0;
}

struct burner *burn_burner(struct worker *worker)
{
	struct burner *burner = &burners[worker->forwarder_index];

	if (ways[way].burn == burn_by_lock && burn_lock_create(worker) != 0)
		return NULL;
	burner->worker = worker;
	burn = ways[way].burn;
	least_clocks = ways[way].sleeps ? us_clocks(SLEEP_MIN_US) : 1;
	credit_clocks = us_clocks(CREDIT_MAX_US);
	return burner;
}

/* In the worker's own thread. */
static void burner_start(struct burner *burner)
{
	/* Without it the kernel may wake us 50 us later than asked, to wake others as well. */
	if (ways[way].sleeps)
		(void)prctl(PR_SET_TIMERSLACK, 1);
	burner->next_pause = rte_rdtsc() + us_clocks(pause_every_us);
	burner->ready = true;
}

static void owe_pause(struct burner *burner)
{
	uint64_t now = rte_rdtsc();

	if (now < burner->next_pause)
		return;
	burner->debt += (int64_t)us_clocks(pause_for_us);
	burner->next_pause = now + us_clocks(pause_every_us);
}

void burn_call(struct burner *burner, rte_node_t node, uint16_t packets)
{
	uint64_t clocks;

	if (unlikely(!burner->ready))
		burner_start(burner);
	burner->debt += (int64_t)(call_clocks + packets * packet_clocks);
	if (pause_every_us != 0)
		owe_pause(burner);
	if (burner->debt < (int64_t)least_clocks)
		return;
	worker_wait_start(burner->worker, node);
	clocks = burn(burner->worker, (uint64_t)burner->debt, packet_clocks == 0 ? 0 : packets);
	worker_wait_end(burner->worker, clocks);
	burner->debt -= (int64_t)clocks;
	burner->debt = RTE_MAX(burner->debt, -(int64_t)credit_clocks);
}
