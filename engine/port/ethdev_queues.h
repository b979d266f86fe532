/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, descriptor rings and RSS of a DPDK device: what is asked for, and what it took. */
#ifndef LINERATE_ETHDEV_QUEUES_H
#define LINERATE_ETHDEV_QUEUES_H

#include "port.h"

#include <rte_ethdev.h>

/* Keys of a port that ethdev_queues_parse() knows. */
#define ETHDEV_QUEUES_KEYS "rx_queues", "tx_queues", "rx_ring", "tx_ring", "rss"

/* As the file asks for; 0: the file does not say. */
struct ethdev_queues {
	uint16_t rx_queues;
	uint16_t rx_ring, tx_ring; /* descriptors a queue */
	uint64_t rss;              /* RTE_ETH_RSS_…; 0: addresses and ports */
};

/* Also sets the port's rx queues and rings, by which its pool is made. */
void ethdev_queues_parse(struct ethdev_queues *queues, struct port *port, const char *device,
	const struct config_node *node);
/* Sets port->rx_ring and port->tx_ring to what the device takes, and RSS in `conf`. Returns 0, or
 * -EINVAL after saying what it takes. */
int ethdev_queues_configure(const struct ethdev_queues *queues, struct port *port, uint16_t port_id,
	const struct rte_eth_dev_info *info, struct rte_eth_conf *conf);
/* With the device started: keeps in port->rss which fields choose the rx queue. */
void ethdev_queues_taken(struct port *port, uint16_t port_id, const struct rte_eth_conf *conf);

#endif
