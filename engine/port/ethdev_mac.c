/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_mac.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

/* Those whose driver has no call to change the address. */
static bool takes_address_at_birth(const char *argument)
{
	return strncmp(argument, "--vdev=net_memif", strlen("--vdev=net_memif")) == 0;
}

int ethdev_mac_devargs(const struct port *port, char *argument, size_t bytes)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	size_t used = strlen(argument);

	if (!port->mac_given || !takes_address_at_birth(argument) ||
		strstr(argument, ",mac=") != NULL)
		return 0;
	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	if (snprintf(argument + used, bytes - used, ",mac=%s", mac) >= (int)(bytes - used))
		return -ENAMETOOLONG;
	return 0;
}

/* Some drivers answer 0 and keep their address: what counts is what is read back. */
static int set_address(
	uint16_t port_id, struct rte_ether_addr *wanted, struct rte_ether_addr *found)
{
	int rc = rte_eth_dev_default_mac_addr_set(port_id, wanted);

	if (rte_eth_macaddr_get(port_id, found) != 0)
		return -EIO;
	if (rte_is_same_ether_addr(wanted, found))
		return 0;
	return rc == 0 ? -ENOTSUP : rc;
}

void ethdev_mac_configure(struct port *port, uint16_t port_id, struct ethdev_mac *mac)
{
	struct rte_ether_addr wanted = port->mac, found;
	char asked[RTE_ETHER_ADDR_FMT_SIZE], kept[RTE_ETHER_ADDR_FMT_SIZE];
	int rc;

	if (rte_eth_macaddr_get(port_id, &mac->own) != 0)
		return;
	if (!port->mac_given) {
		port->mac = mac->own;
		return;
	}
	if (port->system_calls || rte_is_same_ether_addr(&wanted, &mac->own))
		return;
	rc = set_address(port_id, &wanted, &found);
	mac->changed = !rte_is_same_ether_addr(&found, &mac->own);
	if (rc == 0)
		return;
	port->mac = found;
	rte_ether_format_addr(asked, sizeof(asked), &wanted);
	rte_ether_format_addr(kept, sizeof(kept), &found);
	fprintf(stderr, "port %s: the device does not take the address %s (%s): it keeps %s\n",
		port->name, asked, strerror(-rc), kept);
}

void ethdev_mac_restore(const struct ethdev_mac *mac, uint16_t port_id)
{
	struct rte_ether_addr own = mac->own;

	if (mac->changed)
		(void)rte_eth_dev_default_mac_addr_set(port_id, &own);
}
