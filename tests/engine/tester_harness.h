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

/* Bursts get the port for a queue. */
struct tester_device {
	uint16_t (*rx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	uint16_t (*tx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	uint16_t max_frame_bytes;
};

extern const struct tester_device tester_device;

/* The ports' clock, in TSC cycles. */
extern uint64_t device_clock;

/* One walk of the tester's graph. */
void tester_walk(void);
/* Starts the tester in this process; `text` is the "tester" object's without its ports. */
void tester_start(const char *text);

/* Runs the case in a child process with the tester started; fails when a check there did. */
static inline void tester_case(const char *text, void (*run)(void))
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		test_failures = 0;
		tester_start(text);
		run();
		fflush(NULL);
		_exit(test_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		WEXITSTATUS(status) == EXIT_SUCCESS);
}

/* Defines NAME_case(), which is NAME() in a process of its own. */
#define TESTER_CASE(name, text) \
	static void name##_case(void) \
	{ \
		tester_case(text, name); \
	}

#endif
