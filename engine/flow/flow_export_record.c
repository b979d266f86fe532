/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_export_record.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <string.h>

static const uint8_t reasons[] = {
	[FLOW_END_IDLE] = FLOW_EXPORT_IDLE,
	[FLOW_END_CLOSED] = FLOW_EXPORT_END,
	[FLOW_END_HARD] = FLOW_EXPORT_ACTIVE,
	[FLOW_END_STOP] = FLOW_EXPORT_FORCED,
	[FLOW_STILL_LIVE] = FLOW_EXPORT_ACTIVE,
};

static void put_ip4(uint8_t bytes[16], uint32_t address)
{
	rte_be32_t wire = rte_cpu_to_be_32(address);

	memcpy(bytes, &wire, sizeof(wire));
}

static void fill_key(struct flow_export_record *record, const struct flow_export *export)
{
	const struct flow_key *key = &export->key;

	record->version = key->version;
	record->protocol = key->protocol;
	if (key->version == 6) {
		memcpy(record->addresses[0], export->addresses6.low, 16);
		memcpy(record->addresses[1], export->addresses6.high, 16);
	} else {
		put_ip4(record->addresses[0], key->low_address);
		put_ip4(record->addresses[1], key->high_address);
	}
	record->icmp = key->protocol == (key->version == 6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	if (record->icmp) {
		record->icmp_type_code = key->high_port;
	} else {
		record->ports[0] = key->low_port;
		record->ports[1] = key->high_port;
	}
}

/* IPFIX counts IP packets, the table whole frames. */
static uint64_t ip_bytes(uint64_t frame_bytes, uint64_t packets, uint8_t l3_offset)
{
	uint64_t before = packets * (l3_offset == 0 ? RTE_ETHER_HDR_LEN : l3_offset);

	return frame_bytes > before ? frame_bytes - before : 0;
}

static uint64_t wall(const struct flow_export *export, uint32_t ms, uint64_t now_unix_ms)
{
	return now_unix_ms - (uint32_t)(export->now_ms - ms);
}

void flow_export_record_make(struct flow_export_record *record, const struct flow_export *export,
	struct flow_export_record_before *before, uint64_t now_unix_ms)
{
	bool known = before->mark == export->mark;

	memset(record, 0, sizeof(*record));
	fill_key(record, export);
	record->reason = reasons[export->reason];
	for (unsigned d = 0; d < FLOW_DIRECTIONS; d++) {
		struct flow_export_record_direction *of = &record->of[d];
		uint64_t packets_before = known ? before->packets[d] : 0;
		uint64_t bytes_before = known ? before->bytes[d] : 0;
		bool goes_on = packets_before > 0;

		of->packets = export->packets[d] - packets_before;
		if (of->packets == 0)
			continue;
		of->bytes = ip_bytes(
			export->bytes[d] - bytes_before, of->packets, export->l3_offset[d]);
		of->tcp_flags = export->tcp_flags[d];
		/* The last exported interval ended where this begins. */
		of->first_ms = wall(
			export, goes_on ? before->last_ms[d] : export->first_ms[d], now_unix_ms);
		of->last_ms = wall(export, export->last_ms[d], now_unix_ms);
	}
	if (export->reason != FLOW_STILL_LIVE) {
		if (known)
			before->mark = FLOW_MARK_NONE;
		return;
	}
	before->mark = export->mark;
	memcpy(before->packets, export->packets, sizeof(before->packets));
	memcpy(before->bytes, export->bytes, sizeof(before->bytes));
	memcpy(before->last_ms, export->last_ms, sizeof(before->last_ms));
}
