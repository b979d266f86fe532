/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow notices to the exporter: from each worker over a ring of its own. */
#ifndef LINERATE_FLOW_EXPORT_H
#define LINERATE_FLOW_EXPORT_H

#include "flow_record.h"

/* Reasons to export a flow. */
enum flow_end_reason {
	FLOW_END_IDLE,
	FLOW_END_CLOSED, /* TCP: FIN both ways, or RST */
	FLOW_END_HARD,   /* it lasted as long as a flow may */
	FLOW_END_STOP,   /* the engine ends */
	FLOW_END_REASONS,
	FLOW_STILL_LIVE = FLOW_END_REASONS,
};

/* Counts are all since the flow began. */
struct flow_export {
	struct flow_key key;
	struct flow_addresses6 addresses6; /* of IPv6 */
	uint64_t packets[FLOW_DIRECTIONS];
	uint64_t bytes[FLOW_DIRECTIONS]; /* of frames, without FCS */
	/* The table's clock, milliseconds modulo 2^32; of directions with packets. */
	uint32_t first_ms[FLOW_DIRECTIONS], last_ms[FLOW_DIRECTIONS];
	uint32_t now_ms; /* when this was written */
	/* FLOW_MARK of the record, without meaning of the direction: identifies a flow that was
	 * exported while it was live, so that the exporter can compute the increment. */
	uint32_t mark;
	uint8_t tcp_flags[FLOW_DIRECTIONS];
	/* Where the IP header lies in the direction's frames: IPFIX counts from there. 0: unknown.
	 */
	uint8_t l3_offset[FLOW_DIRECTIONS];
	uint8_t reason; /* enum flow_end_reason */
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct flow_export) % 4 == 0, "an element of rte_ring");

#endif
