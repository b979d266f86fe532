/* SPDX-License-Identifier: BSD-3-Clause */
/* The tester: ports that send streams, an analyser that takes them back, trials. */
#ifndef LINERATE_TESTER_H
#define LINERATE_TESTER_H

#include "core/config.h"
#include "core/node.h"
#include "tester_state.h"
#include "tester_worker.h"

#include <rte_cycles.h>

#include <stdint.h>

struct ledger;

/* Reads the "tester" object. */
void tester_parse(const struct config_node *node);
/* With ports configured: pools, rates, schedules. Returns 0 or -errno after saying why. */
int tester_create(void);
/* Clones the tester's nodes and gives them to its worker. */
int tester_create_nodes(void);
/* Gives a stream of the port's its rate and flows. Returns 0 or -errno after writing
 * why. */
int tester_stream_prepare(struct stream *stream, const struct port *port, FILE *complaints);
/* Gives the port one more stream, and it an id. Returns 0 or -errno. */
int tester_stream_add(struct tester_port *port, struct stream *stream);
/* The tester's port of that index; NULL: it is another's. */
struct tester_port *tester_port_of(int port);
/* Frames of all ports since the engine began. */
uint64_t tester_sent(void);
uint64_t tester_received(void);
/* The same, of streams alone: each once. */
uint64_t tester_received_frames(void);
/* Frames that are none of ours. */
uint64_t tester_other(void);

/* Parts of a second that a link has to take what is held of a trial that is stopped. */
#define TESTER_HELD_PARTS 10

/* Whether the trial of that number is stopped, and the sender's link is down or takes nothing: its
 * peer may be there and not read, as a tap whose program sleeps. */
static inline bool tester_gives_up(struct tester_sender *sender, uint32_t number)
{
	uint64_t now;

	if (__atomic_load_n(&tester.order.stop, __ATOMIC_RELAXED) != number)
		return false;
	if (port_link_is_down(sender->port->port))
		return true;
	now = rte_rdtsc();
	if (sender->trial.stopped != number) {
		sender->trial.stopped = number;
		sender->trial.stop_tsc = now;
	}
	return now - sender->trial.stop_tsc > rte_get_tsc_hz() / TESTER_HELD_PARTS;
}

/* Clock of the port that paces its streams, in TSC cycles. */
static inline uint64_t tester_clock(const struct port *port)
{
	return port->driver->clock == NULL ? rte_rdtsc() : port->driver->clock(port);
}

#endif
