/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forwarder without wires: ports of a driver `test` whose frames come from and go to
 * arrays, and one worker's graph walked by the test itself. Each case runs in a process of
 * its own, since EAL and the graph's nodes start only once in one.
 */
#ifndef LINERATE_HARNESS_H
#define LINERATE_HARNESS_H

#include "port/port.h"
#include "test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARNESS_FRAME_BYTES 2048

struct frame {
	unsigned length; /* without FCS */
	uint8_t bytes[HARNESS_FRAME_BYTES];
};

/* The router configuration that most cases use: 16/24 via e0, 48/24 via e1, and labels. */
extern const char harness_router_cli[];

/* Starts the forwarder in this process. `ports` e0, e1 … in mode router with the CLI text. */
void harness_start(unsigned ports, const char *cli);
/* With several workers, whose graphs harness_walk() lets work in turn, each until nothing comes.
 * `options` is the JSON text of the forwarder object without its ports. */
void harness_start_workers(unsigned ports, const char *options);
/* One walk of one worker's graph. */
void harness_walk_worker(unsigned worker);
/* The same in another mode; `options` is the JSON text of the mode's own object, or NULL. */
void harness_start_mode(unsigned ports, const char *mode, const char *options);

/* Hands the frame to the port's receive queue; harness_walk() lets the graph work on it. */
void harness_put(unsigned port, const struct frame *frame);
void harness_walk(void);
/* Both: one frame in, one walk. */
void harness_send(unsigned port, const struct frame *frame);
/* The oldest frame that went out of the port; false when there is none. */
bool harness_get(unsigned port, struct frame *frame);
/* Forgets what went out. Returns how many frames. */
unsigned harness_flush(void);
/* Whether sent frames that were not fetched yet have buffers that are unchanged around them. For
 * modes that neither lengthen frames nor shorten them. */
bool harness_untouched_around(void);
/* The next frames that the port sends find no room. */
void harness_tx_full(unsigned port, bool full);
/* Lets that much time pass on the engine's clock, which stands still otherwise, and ticks. */
void harness_seconds(double seconds);

/* Drops that the node counted under the reason, on all workers. */
uint64_t harness_reason(const char *node, const char *reason);
uint64_t harness_originated(void);
uint64_t harness_held(void);
/* Checks that failed in the harness itself. */
unsigned harness_failures(void);
/* in + originated = out + dropped + consumed + held, and no buffer is lost. */
bool harness_balanced(void);

/* The case, in the child process of the two below. */
static inline void harness_run(void (*run)(void))
{
	run();
	CHECK(harness_balanced());
	CHECK_EQUAL(harness_failures(), 0);
	fflush(NULL);
	_exit(test_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static inline bool harness_fork(pid_t *child)
{
	fflush(NULL);
	*child = fork();
	if (*child == 0)
		test_failures = 0;
	return *child == 0;
}

static inline void harness_wait(pid_t child)
{
	int status = 0;

	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		WEXITSTATUS(status) == EXIT_SUCCESS);
}

/* With a forwarder it runs in a process of its own, and fails when a check there did. */
struct harness_case {
	const char *name;
	void (*run)(void);
	const char *cli; /* of a router */
	unsigned ports;  /* 0: two */
	/* Without `cli`: a mode with its own object, or the whole forwarder without its ports. */
	const char *mode, *options;
};
#define HARNESS_MODE(ports_, mode_, options_) \
	.ports = (ports_), .mode = (mode_), .options = (options_)
#define HARNESS_FORWARDER(ports_, options_) .ports = (ports_), .options = (options_)

static inline void harness_run_case(const struct harness_case *test)
{
	pid_t child;

	if (test->cli == NULL && test->ports == 0) {
		test->run();
		return;
	}
	if (harness_fork(&child)) {
		if (test->cli != NULL)
			harness_start(test->ports == 0 ? 2 : test->ports, test->cli);
		else if (test->mode != NULL)
			harness_start_mode(test->ports, test->mode, test->options);
		else
			harness_start_workers(test->ports, test->options);
		harness_run(test->run);
	}
	harness_wait(child);
}

static inline int harness_run_cases(const struct harness_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned before = test_failures;

		harness_run_case(&cases[i]);
		test_report(cases[i].name, before);
	}
	return test_end();
}

/* main() of a program that does no more than to run its cases. */
#define HARNESS_MAIN(cases) \
	int main(void) \
	{ \
		return harness_run_cases(cases, sizeof(cases) / sizeof((cases)[0])); \
	}

#define CHECK_REASON(node, reason, port, frame) \
	do { \
		uint64_t before_ = harness_reason(node, reason); \
		harness_send(port, frame); \
		CHECK_EQUAL(harness_reason(node, reason), before_ + 1); \
		CHECK(harness_balanced()); \
	} while (0)

/* Frames. Addresses are in host order. */
void frame_ethernet(struct frame *frame, unsigned port, uint16_t ethertype);
/* An IPv4 packet with `payload` bytes of UDP, for the port's interface. */
void frame_ip4(struct frame *frame, unsigned port, uint32_t src, uint32_t dst, uint8_t ttl,
	unsigned payload);
/* The same with labels before it: the words of the label stack, outermost first. */
void frame_mpls(struct frame *frame, unsigned port, const uint32_t *stack, unsigned labels,
	uint32_t src, uint32_t dst, uint8_t ttl, unsigned payload);
void frame_arp(struct frame *frame, unsigned port, uint16_t operation, const char *sender_mac,
	uint32_t sender, uint32_t target);
/* An IPv6 packet with `payload` bytes of UDP. Addresses are text. */
void frame_ip6(struct frame *frame, unsigned port, const char *src, const char *dst,
	uint8_t hop_limit, unsigned payload);
/* An ICMPv6 message of `bytes` from its header on, with the right checksum; to the group's MAC
 * address when `dst` is a group. */
void frame_icmp6(struct frame *frame, unsigned port, const char *src, const char *dst,
	uint8_t hop_limit, const void *message, unsigned bytes);
/* Inserts `bytes` of extension headers of the kind after the IPv6 header. */
void frame_extend6(struct frame *frame, uint8_t kind, const void *headers, unsigned bytes);
/* Sets the checksum of the ICMPv6 message that starts `upper` bytes into the IPv6 packet. */
void frame_icmp6_checksum(struct frame *frame, unsigned upper);
bool frame_icmp6_ok(const struct frame *frame);
void ip6_of(const char *text, uint8_t *address);
uint8_t *frame_l3(struct frame *frame);
/* Sets the IPv4 header checksum at `l3`; the header is as long as it says. */
void frame_checksum(uint8_t *ip);
bool frame_checksum_ok(const uint8_t *ip);
void frame_show(const char *what, const struct frame *frame);
bool frame_same(const struct frame *got, const struct frame *wanted);

#endif
