/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipfix.h"

#include <rte_byteorder.h>
#include <rte_common.h>
#include <string.h>

#define VERSION 10
#define HEADER_BYTES 16
#define SET_HEADER_BYTES 4
#define TEMPLATE_SET_ID 2
#define FIRST_TEMPLATE_ID 256

/* Information elements, by IANA's registry. */
enum element {
	OCTET_DELTA_COUNT = 1,
	PACKET_DELTA_COUNT = 2,
	PROTOCOL_IDENTIFIER = 4,
	TCP_CONTROL_BITS = 6,
	SOURCE_TRANSPORT_PORT = 7,
	SOURCE_IPV4_ADDRESS = 8,
	DESTINATION_TRANSPORT_PORT = 11,
	DESTINATION_IPV4_ADDRESS = 12,
	SOURCE_IPV6_ADDRESS = 27,
	DESTINATION_IPV6_ADDRESS = 28,
	ICMP_TYPE_CODE_IPV4 = 32,
	FLOW_END_REASON = 136,
	ICMP_TYPE_CODE_IPV6 = 139,
	FLOW_ID = 148,
	FLOW_START_MILLISECONDS = 152,
	FLOW_END_MILLISECONDS = 153,
};

struct field {
	uint16_t element, bytes;
};

/* Each template begins with the addresses and what stands for ports ... */
#define FIELDS_MAX 16
static const struct field heads[][4] = {
	{{SOURCE_IPV4_ADDRESS, 4}, {DESTINATION_IPV4_ADDRESS, 4}, {SOURCE_TRANSPORT_PORT, 2},
		{DESTINATION_TRANSPORT_PORT, 2}},
	{{SOURCE_IPV4_ADDRESS, 4}, {DESTINATION_IPV4_ADDRESS, 4}, {ICMP_TYPE_CODE_IPV4, 2}},
	{{SOURCE_IPV6_ADDRESS, 16}, {DESTINATION_IPV6_ADDRESS, 16}, {SOURCE_TRANSPORT_PORT, 2},
		{DESTINATION_TRANSPORT_PORT, 2}},
	{{SOURCE_IPV6_ADDRESS, 16}, {DESTINATION_IPV6_ADDRESS, 16}, {ICMP_TYPE_CODE_IPV6, 2}},
};
/* ... and goes on with these. RFC 7125 allows one byte of TCP's flags. */
static const struct field tail[] = {
	{PROTOCOL_IDENTIFIER, 1},
	{TCP_CONTROL_BITS, 1},
	{FLOW_END_REASON, 1},
	{OCTET_DELTA_COUNT, 8},
	{PACKET_DELTA_COUNT, 8},
	{FLOW_START_MILLISECONDS, 8},
	{FLOW_END_MILLISECONDS, 8},
	{FLOW_ID, 8},
};
#define TEMPLATES RTE_DIM(heads)

static void put8(struct ipfix *ipfix, uint8_t value)
{
	ipfix->bytes[ipfix->used++] = value;
}

static void put16(struct ipfix *ipfix, uint16_t value)
{
	rte_be16_t wire = rte_cpu_to_be_16(value);

	memcpy(ipfix->bytes + ipfix->used, &wire, sizeof(wire));
	ipfix->used += sizeof(wire);
}

static void put32(struct ipfix *ipfix, uint32_t value)
{
	rte_be32_t wire = rte_cpu_to_be_32(value);

	memcpy(ipfix->bytes + ipfix->used, &wire, sizeof(wire));
	ipfix->used += sizeof(wire);
}

static void put64(struct ipfix *ipfix, uint64_t value)
{
	rte_be64_t wire = rte_cpu_to_be_64(value);

	memcpy(ipfix->bytes + ipfix->used, &wire, sizeof(wire));
	ipfix->used += sizeof(wire);
}

static void put(struct ipfix *ipfix, const void *bytes, size_t count)
{
	memcpy(ipfix->bytes + ipfix->used, bytes, count);
	ipfix->used += count;
}

static unsigned template_of(const struct flow_export_record *record)
{
	return (record->version == 6 ? 2 : 0) + (record->icmp ? 1 : 0);
}

static unsigned head_fields(unsigned template)
{
	return heads[template][3].bytes == 0 ? 3 : 4;
}

static size_t record_bytes(unsigned template)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < head_fields(template); i++)
		bytes += heads[template][i].bytes;
	for (unsigned i = 0; i < RTE_DIM(tail); i++)
		bytes += tail[i].bytes;
	return bytes;
}

void ipfix_next(struct ipfix *ipfix)
{
	ipfix->sequence += ipfix->records;
	ipfix->records = 0;
	ipfix->used = HEADER_BYTES;
	ipfix->set = 0;
}

void ipfix_start(struct ipfix *ipfix, uint32_t domain)
{
	memset(ipfix, 0, sizeof(*ipfix));
	ipfix->domain = domain;
	ipfix_next(ipfix);
}

/* A set's length is written when it ends. */
static void close_set(struct ipfix *ipfix)
{
	rte_be16_t length = rte_cpu_to_be_16((uint16_t)(ipfix->used - ipfix->set));

	if (ipfix->set == 0)
		return;
	memcpy(ipfix->bytes + ipfix->set + 2, &length, sizeof(length));
	ipfix->set = 0;
}

/* Opens a set with that number for the next records. Returns false when `bytes` more do not fit. */
static bool open_set(struct ipfix *ipfix, uint16_t id, size_t bytes)
{
	bool same = ipfix->set != 0 && ipfix->set_id == id;

	if (ipfix->used + (same ? 0 : SET_HEADER_BYTES) + bytes > IPFIX_MESSAGE_BYTES)
		return false;
	if (same)
		return true;
	close_set(ipfix);
	ipfix->set = ipfix->used;
	ipfix->set_id = id;
	put16(ipfix, id);
	put16(ipfix, 0);
	return true;
}

static void put_field(struct ipfix *ipfix, const struct field *field)
{
	put16(ipfix, field->element);
	put16(ipfix, field->bytes);
}

bool ipfix_add_templates(struct ipfix *ipfix)
{
	if (!open_set(ipfix, TEMPLATE_SET_ID, TEMPLATES * (4 + FIELDS_MAX * 4)))
		return false;
	for (unsigned template = 0; template <TEMPLATES; template ++) {
		put16(ipfix, (uint16_t)(FIRST_TEMPLATE_ID + template));
		put16(ipfix, (uint16_t)(head_fields(template) + RTE_DIM(tail)));
		for (unsigned i = 0; i < head_fields(template); i++)
			put_field(ipfix, &heads[template][i]);
		for (unsigned i = 0; i < RTE_DIM(tail); i++)
			put_field(ipfix, &tail[i]);
	}
	return true;
}

bool ipfix_add(
	struct ipfix *ipfix, const struct flow_export_record *record, enum flow_direction direction)
{
	unsigned template = template_of(record);
	size_t address_bytes = record->version == 6 ? 16 : 4;
	const struct flow_export_record_direction *sent = &record->of[direction];

	if (!open_set(ipfix, (uint16_t)(FIRST_TEMPLATE_ID + template), record_bytes(template)))
		return false;
	put(ipfix, record->addresses[direction], address_bytes);
	put(ipfix, record->addresses[!direction], address_bytes);
	if (record->icmp) {
		put16(ipfix, record->icmp_type_code);
	} else {
		put16(ipfix, record->ports[direction]);
		put16(ipfix, record->ports[!direction]);
	}
	put8(ipfix, record->protocol);
	put8(ipfix, sent->tcp_flags);
	put8(ipfix, record->reason);
	put64(ipfix, sent->bytes);
	put64(ipfix, sent->packets);
	put64(ipfix, sent->first_ms);
	put64(ipfix, sent->last_ms);
	put64(ipfix, record->id);
	ipfix->records++;
	return true;
}

bool ipfix_empty(const struct ipfix *ipfix)
{
	return ipfix->used == HEADER_BYTES;
}

size_t ipfix_finish(struct ipfix *ipfix, uint32_t unix_seconds)
{
	size_t length = ipfix->used;

	close_set(ipfix);
	ipfix->used = 0;
	put16(ipfix, VERSION);
	put16(ipfix, (uint16_t)length);
	put32(ipfix, unix_seconds);
	put32(ipfix, ipfix->sequence);
	put32(ipfix, ipfix->domain);
	ipfix->used = length;
	return length;
}
