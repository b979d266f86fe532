/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flow's record, split by frequency of access: each packet touches one cache line, the key in it;
 * fields that only creation, timers and export touch are separate, and so are the addresses of
 * IPv6.
 */
#ifndef LINERATE_FLOW_RECORD_H
#define LINERATE_FLOW_RECORD_H

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The sorted 6-tuple: IP version, protocol and two endpoints of address and port, the lower
 * first, so that both directions have the same. Numbers are in host order.
 */
struct flow_key {
	/* IPv4. Of IPv6, the two halves of a hash of the 32 bytes of struct flow_addresses6. */
	uint32_t low_address, high_address;
	/* ICMP has no ports: low_port is the echo's identifier (0 of other messages), high_port
	 * type << 8 | code, a reply's type being its request's; see docs/flow-table.md. */
	uint16_t low_port, high_port;
	uint8_t protocol;
	uint8_t version; /* 4 or 6 */
	uint16_t zero;
};
_Static_assert(sizeof(struct flow_key) == 16, "two words");

/* As they stand in the packet, that of the lower endpoint first. */
struct flow_addresses6 {
	uint8_t low[16], high[16];
};

/* Sender of a packet of the flow. */
enum flow_direction {
	FLOW_LOW_TO_HIGH,
	FLOW_HIGH_TO_LOW,
};
#define FLOW_DIRECTIONS 2

enum flow_state {
	FLOW_FREE,
	FLOW_OPEN,
	FLOW_CLOSING, /* TCP: FIN both ways, or RST */
	FLOW_ENDED,   /* out of the table, but its number is held: rules may stand */
};

/* struct flow_record.held: of the rules that stand for the flow. */
#define FLOW_HELD 1u /* the number is not given to another flow */
#define FLOW_RULE(direction) (2u << (direction))
#define FLOW_RULES (FLOW_RULE(0) | FLOW_RULE(1))
#define FLOW_END_NOTIFIED 8u /* the offload thread knows that the flow has ended */

/* Fields that each packet of the flow reads and writes. Written by the table's worker alone. */
struct flow_record {
	struct flow_key key;
	uint64_t packets[FLOW_DIRECTIONS];
	uint64_t bytes[FLOW_DIRECTIONS];        /* of frames, without FCS */
	uint32_t last_seen_ms[FLOW_DIRECTIONS]; /* modulo 2^32; the flow's first when there was none
						 */
	uint8_t tcp_flags[FLOW_DIRECTIONS];     /* all that were seen */
	/* Where the packets' IP header lies in the frame, and its first byte: a marked packet's TCP
	 * flags are read without parsing where they agree. 0: not known. */
	uint8_t l3_offset[FLOW_DIRECTIONS];
	uint8_t l3_byte;
	uint8_t generation; /* 1 to 127; another for each flow that has the number */
	uint8_t state;      /* enum flow_state */
	uint8_t held;       /* FLOW_HELD … */
};
_Static_assert(sizeof(struct flow_record) == 64, "one cache line");

/* The rest. */
struct flow_cold {
	uint32_t first_seen_ms[FLOW_DIRECTIONS]; /* of a direction with packets */
	uint32_t closed_ms;                      /* of FLOW_CLOSING */
	uint32_t exported_ms;                    /* last export while live */
};

/*
 * Contents of a rule's MARK action: record, direction, and the record's generation at the time.
 * Never 0, and never small, as generations begin with 1.
 */
#define FLOW_INDEX_BITS 24
#define FLOW_INDEX_MASK ((1u << FLOW_INDEX_BITS) - 1)
#define FLOW_GENERATION_MAX 127u
#define FLOW_MARK(index, direction, generation) \
	((uint32_t)(index) | (uint32_t)(direction) << 24 | (uint32_t)(generation) << 25)
#define FLOW_MARK_INDEX(mark) ((mark)&FLOW_INDEX_MASK)
#define FLOW_MARK_DIRECTION(mark) ((mark) >> 24 & 1)
#define FLOW_MARK_GENERATION(mark) ((mark) >> 25)
#define FLOW_MARK_NONE 0u

#endif
