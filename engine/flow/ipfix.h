/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPFIX messages (RFC 7011). A flow becomes two data records, one a direction that had packets,
 * and their flowId is the same. RFC 5103 would put both into one, by "reverse" elements. nfdump
 * adds up those counts too, but keeps one pair of times and one set of TCP flags a record, and
 * collectors without RFC 5103 skip what is reverse unread: two records are read right by all.
 */
#ifndef LINERATE_IPFIX_H
#define LINERATE_IPFIX_H

#include "flow_export_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of UDP payload: fits an Ethernet frame over IPv6, and some tunnel. */
#define IPFIX_MESSAGE_BYTES 1400

struct ipfix {
	uint32_t domain;   /* observation domain */
	uint32_t sequence; /* data records in all messages before this one */
	uint32_t records;  /* in this one */
	size_t used;
	size_t set; /* where the open set begins; 0: none is open */
	uint16_t set_id;
	uint8_t bytes[IPFIX_MESSAGE_BYTES];
};

/* An empty message, the first. */
void ipfix_start(struct ipfix *ipfix, uint32_t domain);
/* Adds the templates of all data records; to be repeated, as UDP loses them. Returns false when
 * there is no room for them in this message. */
bool ipfix_add_templates(struct ipfix *ipfix);
/* Adds the record of one direction. Returns false when there is no room for it in this message. */
bool ipfix_add(struct ipfix *ipfix, const struct flow_export_record *record,
	enum flow_direction direction);
bool ipfix_empty(const struct ipfix *ipfix);
/* Writes the header; ipfix->bytes is to be sent then. Returns its length. */
size_t ipfix_finish(struct ipfix *ipfix, uint32_t unix_seconds);
/* The next message. */
void ipfix_next(struct ipfix *ipfix);

#endif
