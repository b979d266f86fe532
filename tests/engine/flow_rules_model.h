/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port with rules and the thread that makes them, as far as the flow table sees them: asks for
 * flows, marks their packets, forgets to, is reset, gives flows back late, and marks packets with
 * marks that mean nothing any more.
 */
#ifndef LINERATE_FLOW_RULES_MODEL_H
#define LINERATE_FLOW_RULES_MODEL_H

#include "flow/flow_table.h"

enum rules_mark {
	RULES_MARKED, /* rightly */
	RULES_UNMARKED,
	RULES_WRONG,
};

typedef unsigned (*rules_find_pair_t)(
	const struct flow_key *key, const struct flow_addresses6 *six);

/* Gives the table its rings. */
void rules_start(struct flow_table *table, rules_find_pair_t find_pair);
/* Marks the packet, or not. */
enum rules_mark rules_mark(struct rte_mbuf *mbuf, unsigned pair, unsigned direction);
/* After each flow_table_work(): reads what the table says ... */
void rules_listen(void);
/* ... and, when ended flows were reported, asks for others and gives some back. */
void rules_flow_ended(unsigned pair);
void rules_work(void);
/* Ended flows whose numbers are held. */
unsigned rules_waiting(void);
void rules_give_all_back(void);
/* Frees the rings; returns how many packets were marked rightly, and wrongly. */
void rules_stop(uint64_t *right, uint64_t *wrong);

#endif
