/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's drivers that do otherwise than ethdev promises, by name. */
#ifndef LINERATE_ETHDEV_QUIRKS_H
#define LINERATE_ETHDEV_QUIRKS_H

#include <rte_ethdev.h>
#include <stdbool.h>

struct ethdev_quirks {
	bool bytes_with_fcs; /* ibytes and obytes count the FCS, four bytes a frame */
};

/* All false for a driver that keeps to ethdev. */
const struct ethdev_quirks *ethdev_quirks_of(const struct rte_eth_dev_info *info);

#endif
