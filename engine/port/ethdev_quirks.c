/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_quirks.h"

#include <rte_common.h>
#include <string.h>

static const struct {
	const char *driver;
	struct ethdev_quirks quirks;
} drivers[] = {
	/*
	 * Its byte counters are the registers GORC and GOTC, as they are: igb, igc, ixgbe, i40e and
	 * ice take the FCS off.
	 */
	{"net_e1000_em", {.bytes_with_fcs = true}},
};

const struct ethdev_quirks *ethdev_quirks_of(const struct rte_eth_dev_info *info)
{
	static const struct ethdev_quirks none;

	for (unsigned i = 0; info->driver_name != NULL && i < RTE_DIM(drivers); i++)
		if (strcmp(info->driver_name, drivers[i].driver) == 0)
			return &drivers[i].quirks;
	return &none;
}
