/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_tuple.h"

#include <netinet/in.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <stdbool.h>
#include <string.h>

#define LABELS_MAX 16

static bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_UDP || protocol == IPPROTO_TCP || protocol == IPPROTO_SCTP;
}

static unsigned tuple_of_ip4(const uint8_t *ip, unsigned bytes, unsigned fields, uint8_t *tuple)
{
	unsigned header;

	if (bytes < sizeof(struct rte_ipv4_hdr) || ip[0] >> 4 != 4)
		return 0;
	header = (ip[0] & 0xf) * 4u;
	memcpy(tuple, ip + 12, 8);
	/* Any fragment is hashed over addresses only, so that all of them meet. */
	if ((fields & FLOW_L4) == 0 || ((ip[6] & 0x3f) | ip[7]) != 0 || !has_ports(ip[9]) ||
		bytes < header + 4 || header < 20)
		return 8;
	memcpy(tuple + 8, ip + header, 4);
	return 12;
}

static unsigned tuple_of_ip6(const uint8_t *ip, unsigned bytes, unsigned fields, uint8_t *tuple)
{
	if (bytes < sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6)
		return 0;
	memcpy(tuple, ip + 8, 32);
	if ((fields & FLOW_L4) == 0 || !has_ports(ip[6]) || bytes < 44)
		return 32;
	memcpy(tuple + 32, ip + 40, 4);
	return 36;
}

/* Offset of the network header, its kind in *type; 0 when the frame is cut short. */
static unsigned network_header(const uint8_t *frame, unsigned bytes, uint16_t *type)
{
	unsigned offset = 12;

	do {
		if (offset + 2 > bytes)
			return 0;
		*type = (uint16_t)(frame[offset] << 8 | frame[offset + 1]);
		offset += *type == RTE_ETHER_TYPE_VLAN || *type == RTE_ETHER_TYPE_QINQ ? 4 : 2;
	} while (*type == RTE_ETHER_TYPE_VLAN || *type == RTE_ETHER_TYPE_QINQ);
	return offset < bytes ? offset : 0;
}

/* Skips the label stack. What is below it tells its kind by the first nibble only. */
static unsigned below_labels(const uint8_t *frame, unsigned bytes, unsigned offset, uint16_t *type)
{
	for (unsigned labels = 0; labels < LABELS_MAX && offset + 4 < bytes; labels++) {
		bool bottom = frame[offset + 2] & 1;

		offset += 4;
		if (bottom) {
			*type = frame[offset] >> 4 == 6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
			return offset;
		}
	}
	return 0;
}

unsigned flow_tuple(
	const uint8_t *frame, unsigned bytes, unsigned fields, uint8_t tuple[FLOW_TUPLE_BYTES])
{
	uint16_t type = 0;
	unsigned offset = network_header(frame, bytes, &type);

	if (offset != 0 && type == RTE_ETHER_TYPE_MPLS)
		offset = fields & FLOW_MPLS_INNER ? below_labels(frame, bytes, offset, &type) : 0;
	if (offset == 0)
		return 0;
	if (type == RTE_ETHER_TYPE_IPV4)
		return tuple_of_ip4(frame + offset, bytes - offset, fields, tuple);
	if (type == RTE_ETHER_TYPE_IPV6)
		return tuple_of_ip6(frame + offset, bytes - offset, fields, tuple);
	return 0;
}
