/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tester without wires: ports e0, e1 of a driver `test`, whose clock stands until a case moves
 * it. What is behind them is the program's own `tester_device`. Each case runs in a process of its
 * own, since EAL and the graph's nodes start only once in one.
 */
#ifndef LINERATE_TESTER_HARNESS_H
#define LINERATE_TESTER_HARNESS_H

#include "port/port.h"
#include "test.h"

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bursts get the port for a queue. Without rx_burst no frames come, without tx_burst all are taken.
 */
struct tester_device {
	uint16_t (*rx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	uint16_t (*tx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	uint16_t max_frame_bytes;
};

extern const struct tester_device tester_device;

/* The ports' clock, in TSC cycles. */
extern uint64_t device_clock;

/* One walk of the tester's graph; of each worker's, in turn. */
void tester_walk(void);
/* One walk of that worker's. */
void tester_walk_worker(unsigned worker);
/* Starts the tester in this process; `text` is the "tester" object's without its ports. */
void tester_start(const char *text);
/* Senders that it has then of each port, and workers in all; 1 unless set. */
extern unsigned tester_senders;

struct tester_case {
	const char *name;
	void (*run)(void);
	const char *text; /* of the tester that is started for it; NULL: none is */
};

/* With a tester it runs in a process of its own, and fails when a check there did. */
static inline void tester_run_case(const struct tester_case *test)
{
	int status = 0;
	pid_t child;

	if (test->text == NULL) {
		test->run();
		return;
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		test_failures = 0;
		tester_start(test->text);
		test->run();
		fflush(NULL);
		_exit(test_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		WEXITSTATUS(status) == EXIT_SUCCESS);
}

static inline int tester_run_cases(const struct tester_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned before = test_failures;

		tester_run_case(&cases[i]);
		test_report(cases[i].name, before);
	}
	return test_end();
}

/* main() of a program that does no more than to run its cases. */
#define TESTER_MAIN(cases) \
	int main(void) \
	{ \
		return tester_run_cases(cases, sizeof(cases) / sizeof((cases)[0])); \
	}

#endif
