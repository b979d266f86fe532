/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The card's flow table: rules with which the card looks up each frame's flow itself, and marks
 * it, chooses its queue, counts or drops it. It takes what rte_flow takes (card_flow_pattern.c says
 * the supported part), separately on each port.
 *
 * The number of rules that fit is as with the Intel X710: the first `guaranteed` always do; the
 * others are in buckets of eight, chosen by a hash of the flow, and a rule whose bucket is full is
 * refused (ENOSPC) though others would fit. With `capacity` rules none does.
 *
 * One thread at a time changes the table (a lock), while the worker that carries the card reads
 * it without one: what it may still see is used again when it has been through a quiescent state
 * (rcu.h).
 */
#ifndef LINERATE_CARD_FLOW_RULES_H
#define LINERATE_CARD_FLOW_RULES_H

#include "core/config.h"
#include "card.h"

#include <pthread.h>
#include <rte_flow.h>
#include <rte_mbuf.h>

/* VLAN match of a rule: frames with any tags or none, with a tag, with this VLAN id in the outer
 * tag. */
#define CARD_VLAN_ANY 0u
#define CARD_VLAN_TAGGED 0x8000u
#define CARD_VLAN_ID(id) (0x4000u | (id))

/* Match fields of a rule, all exact; numbers as in the frame. */
struct card_flow_key {
	uint8_t addresses[32]; /* source, destination; those of IPv4 are the first 8 bytes */
	uint8_t ports[4];      /* ICMP: type, code, 0, 0 */
	uint8_t protocol;
	uint8_t version; /* of IP; 0: a frame that no rule matches */
	uint16_t vlan;
};
#define CARD_FLOW_KEY_WORDS 5
/* Value of "ignore": rules match whatever ports frames have. */
#define CARD_IGNORE_PORTS "ports"
_Static_assert(sizeof(struct card_flow_key) == CARD_FLOW_KEY_WORDS * sizeof(uint64_t), "words");

enum card_rule_flags {
	CARD_RULE_MARK = 1,
	CARD_RULE_DROP = 2,
	CARD_RULE_COUNT = 4,
};

/* The worker reads only the first cache line, and writes only the second. */
struct card_rule {
	struct card_flow_key key;
	uint32_t next; /* 1 + the next rule with the same hash; 0: none */
	uint32_t mark;
	uint16_t flags;     /* enum card_rule_flags */
	uint16_t nb_queues; /* 0: RSS chooses */
	uint64_t queues;    /* of four bits, the first in the lowest */

	uint64_t packets, bytes; /* counted when CARD_RULE_COUNT is set */
	/* The control threads' own. */
	uint32_t generation; /* of the slot: tells a handle from an older one */
	uint32_t bucket;
	bool stands;
	bool linked; /* the worker can find it */
} __rte_cache_aligned;

struct card_flow_table {
	/* Read by the worker. */
	uint32_t *heads; /* 1 + the first rule; by hash */
	uint32_t mask;
	uint32_t nb_linked;
	uint32_t nb_linked_tagged; /* of these, whose vlan is not CARD_VLAN_ANY */
	struct card_rule *rules;
	bool any_ports; /* rules match whatever ports frames have */

	uint64_t marked __rte_cache_aligned; /* frames, by the worker */

	/* Under the lock. */
	pthread_mutex_t lock __rte_cache_aligned;
	struct card_flow_limits limits;
	uint32_t nb_slots;
	uint32_t nb_standing;
	uint32_t nb_guaranteed; /* of these, in no bucket */
	uint32_t nb_buckets;
	uint8_t *buckets; /* how many rules are in each */
	uint32_t *free;   /* slots, as a stack */
	uint32_t nb_free;
	struct card_retired *retired; /* slots that the worker may still see, as a ring */
	uint32_t retired_first, nb_retired;
	uint64_t refused;
	uint64_t resets;
};

/* Reads a card's "flow_table" object; without one the card has no table. */
void card_parse_flow_table(struct card_flow_limits *limits, const struct config_node *node);

/* With EAL up. Returns NULL when there is no memory. */
struct card_flow_table *card_flow_table_create(const struct card_flow_limits *limits);
/* When no worker looks at it; NULL is well. */
void card_flow_table_free(struct card_flow_table *table);

/* As the port_flow_…() of port.h; a port without a table refuses. */
int card_flow_validate(struct card_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
struct rte_flow *card_flow_create(struct card_port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int card_flow_destroy(struct card_port *port, struct rte_flow *flow, struct rte_flow_error *error);
int card_flow_flush(struct card_port *port, struct rte_flow_error *error);
int card_flow_count(struct card_port *port, struct rte_flow *flow,
	struct rte_flow_query_count *count, struct rte_flow_error *error);
/* Resets the port as hardware does: all rules are lost without notice. */
void card_flow_reset(struct card_port *port);

/* Translates the rule's pattern and actions into its first cache line. Returns 0 or -errno with
 * *error. */
int card_flow_translate(const struct card *card, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct card_rule *rule, struct rte_flow_error *error);

/* The worker's. The flow that a frame is of, in any VLAN; *tag is its outer tag as CARD_VLAN_ID,
 * 0 without one. */
void card_flow_key_of(
	const uint8_t *frame, unsigned bytes, struct card_flow_key *key, uint16_t *tag);
uint32_t card_flow_hash(const struct card_flow_key *key);

static inline bool card_flow_rules_stand(const struct card_port *port)
{
	const struct card_flow_table *table = port->flow_table;

	return table != NULL && __atomic_load_n(&table->nb_linked, __ATOMIC_RELAXED) != 0;
}

/* Finds each frame's rule, or NULL. At most 256 frames. */
void card_flow_match(const struct card_flow_table *table, struct rte_mbuf *const *mbufs,
	struct card_rule **matched, uint16_t count);

#endif
