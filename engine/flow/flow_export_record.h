/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow record as exported: increments since the last export, in wall-clock time. */
#ifndef LINERATE_FLOW_EXPORT_RECORD_H
#define LINERATE_FLOW_EXPORT_RECORD_H

#include "flow_export.h"

#include <stdbool.h>
#include <stdint.h>

/* IANA's registry of flowEndReason (RFC 5102, 5.11.3). */
enum flow_export_record_reason {
	FLOW_EXPORT_IDLE = 1,
	FLOW_EXPORT_ACTIVE = 2, /* goes on, or lasted as long as a flow may */
	FLOW_EXPORT_END = 3,
	FLOW_EXPORT_FORCED = 4,
};

/* Traffic sent by one of the two endpoints. */
struct flow_export_record_direction {
	uint64_t packets, bytes;    /* of IP packets, header and payload */
	uint64_t first_ms, last_ms; /* since 1970 */
	uint8_t tcp_flags;
};

struct flow_export_record {
	uint64_t id;              /* of the flow: the same in all its records */
	uint8_t version;          /* 4 or 6 */
	uint8_t protocol;         /* IANA's number */
	uint8_t reason;           /* enum flow_record_reason */
	bool icmp;                /* has type and code, and no ports */
	uint16_t icmp_type_code;  /* type << 8 | code, of the request */
	uint8_t addresses[2][16]; /* of the lower and the higher endpoint; IPv4 has 4 bytes */
	uint16_t ports[2];        /* 0 where the protocol has none */
	struct flow_export_record_direction of[FLOW_DIRECTIONS];
};

/* Counts of a record's flow at its last export while live; all zero at first. */
struct flow_export_record_before {
	uint32_t mark; /* FLOW_MARK_NONE: nothing */
	uint32_t last_ms[FLOW_DIRECTIONS];
	uint64_t packets[FLOW_DIRECTIONS], bytes[FLOW_DIRECTIONS];
};

/*
 * Writes all of *record but its id: the increment since `before`, which is updated. `now_unix_ms`
 * is the time of export->now_ms.
 */
void flow_export_record_make(struct flow_export_record *record, const struct flow_export *export,
	struct flow_export_record_before *before, uint64_t now_unix_ms);

#endif
