/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link state of a DPDK device, with a record of when it changed. Workers never read the device:
 * the control thread looks. No link interrupt is asked for: with MSI-X an 82574L gives one and none
 * after, a vmxnet3 behind uio_pci_generic none, and with them ethdev asks the device no more.
 */
#ifndef LINERATE_ETHDEV_LINK_H
#define LINERATE_ETHDEV_LINK_H

#include "ethdev_sockets.h"
#include "port.h"

#include <pthread.h>
#include <rte_ethdev.h>

struct ethdev_link {
	pthread_mutex_t lock;
	uint16_t port_id;
	bool started;
	struct ethdev_sockets *sockets; /* of one of the kernel's interfaces; NULL: of none */
	struct port *port;              /* whose `link_down` follows */
	uint64_t looked_tsc;
	struct port_link record;
};

/* With the device started; `sockets` may be NULL. Takes the first look. */
void ethdev_link_start(struct ethdev_link *link, struct port *port, uint16_t port_id,
	struct ethdev_sockets *sockets);
void ethdev_link_stop(struct ethdev_link *link);
/* Looks at the device now. Never blocks for the device. */
void ethdev_link_look(struct ethdev_link *link);
/* The same for who comes often: looks every 50 ms. */
void ethdev_link_tick(struct ethdev_link *link);
/* Copies the state as of the last poll. */
void ethdev_link_read(struct ethdev_link *link, struct port_link *record);

#endif
