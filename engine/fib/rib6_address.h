/* SPDX-License-Identifier: BSD-3-Clause */
/* An IPv6 prefix as rte_rib6 takes it: 16 bytes, of a type of their own from DPDK 24.11 on. */
#ifndef LINERATE_RIB6_ADDRESS_H
#define LINERATE_RIB6_ADDRESS_H

#include <rte_rib6.h>
#include <rte_version.h>
#include <stdint.h>

#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#include <rte_ip6.h>

static inline const struct rte_ipv6_addr *rib6_address(const uint8_t *prefix)
{
	return (const struct rte_ipv6_addr *)prefix;
}
#else
static inline const uint8_t *rib6_address(const uint8_t *prefix)
{
	return prefix;
}
#endif

#endif
