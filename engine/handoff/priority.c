/* SPDX-License-Identifier: BSD-3-Clause */
#include "priority.h"

#include <netinet/in.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>

#define VLANS_MAX 2
#define DSCPS 64

#define CONTROL PRIORITY_CONTROL
#define HIGH PRIORITY_HIGH

/* RFC 4594: CS6 (48) and CS7 (56) are for network control, and what shares their first three
 * bits was as the IP precedence of RFC 791; EF (46), VOICE-ADMIT (44) and AF41 to AF43 (34, 36,
 * 38) are for telephony and conferences. */
static const uint8_t by_dscp[DSCPS] = {
	[34] = HIGH,
	[36] = HIGH,
	[38] = HIGH,
	[44] = HIGH,
	[46] = HIGH,
	[48 ... 63] = CONTROL,
};

/* IANA's protocol numbers; ICMPv6 is ND and MLD too. */
static const uint8_t by_protocol[256] = {
	[IPPROTO_ICMP] = CONTROL,
	[IPPROTO_IGMP] = CONTROL,
	[IPPROTO_RSVP] = CONTROL,
	[IPPROTO_ICMPV6] = CONTROL,
	[88] = CONTROL,  /* EIGRP */
	[89] = CONTROL,  /* OSPF */
	[103] = CONTROL, /* PIM */
	[112] = CONTROL, /* VRRP */
};

const char *priority_name(enum priority priority)
{
	static const char *const names[PRIORITIES] = {"normal", "high", "control"};

	return names[priority];
}

static inline enum priority of_ip(uint8_t dscp, uint8_t protocol)
{
	return (enum priority)RTE_MAX(by_dscp[dscp], by_protocol[protocol]);
}

static inline enum priority of_ip4(const uint8_t *ip, unsigned bytes)
{
	if (unlikely(bytes < sizeof(struct rte_ipv4_hdr)))
		return PRIORITY_NORMAL;
	return of_ip(ip[1] >> 2, ip[9]);
}

/* MLD comes behind a hop-by-hop header (RFC 2710 section 3). */
static inline enum priority of_ip6(const uint8_t *ip, unsigned bytes)
{
	const unsigned header = sizeof(struct rte_ipv6_hdr);
	uint8_t protocol;

	if (unlikely(bytes < header))
		return PRIORITY_NORMAL;
	protocol = ip[6];
	if (unlikely(protocol == IPPROTO_HOPOPTS && bytes > header))
		protocol = ip[header];
	return of_ip((uint8_t)((ip[0] & 0xf) << 2 | ip[1] >> 6), protocol);
}

static enum priority of_other(const uint8_t *frame, uint16_t type)
{
	/* Below 0x600 it is a length (IEEE 802.3): spanning tree and IS-IS, sent to groups. */
	if (type == RTE_ETHER_TYPE_ARP || type == RTE_ETHER_TYPE_LLDP ||
		type == RTE_ETHER_TYPE_SLOW || (type < 0x600 && (frame[0] & 1) != 0))
		return PRIORITY_CONTROL;
	return PRIORITY_NORMAL;
}

enum priority priority_of(const uint8_t *frame, unsigned bytes)
{
	unsigned at = 2 * RTE_ETHER_ADDR_LEN;
	uint16_t type;

	for (unsigned tags = 0;; tags++, at += sizeof(struct rte_vlan_hdr)) {
		if (unlikely(at + sizeof(type) > bytes))
			return PRIORITY_NORMAL;
		type = (uint16_t)(frame[at] << 8 | frame[at + 1]);
		if (likely(type == RTE_ETHER_TYPE_IPV4))
			return of_ip4(frame + at + sizeof(type), bytes - at - sizeof(type));
		if (type != RTE_ETHER_TYPE_VLAN && type != RTE_ETHER_TYPE_QINQ)
			break;
		if (tags == VLANS_MAX)
			return PRIORITY_NORMAL;
	}
	if (type == RTE_ETHER_TYPE_IPV6)
		return of_ip6(frame + at + sizeof(type), bytes - at - sizeof(type));
	return of_other(frame, type);
}
