/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC address of an ethdev port: the configured one if the device takes it, else its own. */
#ifndef LINERATE_ETHDEV_MAC_H
#define LINERATE_ETHDEV_MAC_H

#include "port.h"

#include <stddef.h>
#include <stdint.h>

struct ethdev_mac {
	struct rte_ether_addr own; /* of the device, before we set another */
	bool changed;              /* the device has the configured one now */
};

/* Some devices take an address only when they are made: writes the devargs that name the
 * configured one (",mac=…") after the others in `argument`, of `bytes`. Returns 0, or -ENAMETOOLONG
 * when there is no room. */
int ethdev_mac_devargs(const struct port *port, char *argument, size_t bytes);

/*
 * With the device configured and not started: gives it port->mac if that was configured, and
 * sets port->mac to the address that the port has then. A device on a kernel interface keeps the
 * interface's address, and the port has the configured one beside it: the device is
 * promiscuous. One that refuses keeps its own; that is logged.
 */
void ethdev_mac_configure(struct port *port, uint16_t port_id, struct ethdev_mac *mac);

/* Gives the device its own address back. */
void ethdev_mac_restore(const struct ethdev_mac *mac, uint16_t port_id);

#endif
