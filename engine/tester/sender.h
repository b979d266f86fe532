/* SPDX-License-Identifier: BSD-3-Clause */
/* Senders as the control thread makes them, before workers walk: sender_state.h says what they are.
 */
#ifndef LINERATE_SENDER_H
#define LINERATE_SENDER_H

#include "sender_state.h"
#include "stream.h"

struct worker;

/* The number of senders of the tester's port: each has a tx queue. */
unsigned senders_of(const struct port *port);
/* With the tester's ports known: the port's next one. NULL: there is no memory. */
struct tester_sender *sender_new(struct tester_port *port);
/* With its streams' rates known: buffers and schedules for them. Returns 0, -EINVAL after saying
 * why, or -ENOMEM. */
int sender_create(struct tester_sender *sender, struct stream *const *streams, unsigned count);
/* Creates the node that makes its frames, for the worker to walk. Returns 0 or -EINVAL. */
int sender_create_generator(struct tester_sender *sender, struct worker *worker);

/* Names of the nodes that its frames go through: where those go that are made, and what sends
 * them. */
struct sender_nodes {
	char made[RTE_NODE_NAMESIZE], wire[RTE_NODE_NAMESIZE];
};
struct sender_nodes sender_nodes(const struct tester_sender *sender);
/* Creates them for the worker. Returns 0 or -EINVAL. */
int sender_create_tx(struct tester_sender *sender, struct worker *worker);

#endif
