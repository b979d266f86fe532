/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `ethdev`: any port that DPDK drives, PCI devices and virtual ones (memif, af_xdp,
 * af_packet, tap, ring, null, pcap). "device" is a PCI address or a vdev name.
 */
#include "../frame.h"
#include "../ledger.h"
#include "../memory.h"
#include "../waker.h"
#include "ethdev_flow.h"
#include "ethdev_rss.h"
#include "ethdev_sockets.h"
#include "netns.h"
#include "port.h"

#include <errno.h>
#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RX_DESCRIPTORS 1024
#define TX_DESCRIPTORS 1024

struct eth_queue {
	uint16_t port_id;
	uint16_t index;
	uint16_t engine_port; /* port->index: what mbuf->port is everywhere else */
	bool marks;           /* the device's driver leaves that in mbuf->port */
};

struct eth_port {
	uint16_t port_id;
	bool found; /* DPDK has the device, and port_id is its */
	char argument[512];
	char device[64];
	char netns[NETNS_PATH_MAX]; /* of the interface beneath a virtual device; "" is ours */
	uint64_t link_bps;          /* as configured; 0: ask the driver */
	uint16_t wanted_queues;
	struct ethdev_sockets sockets;
	struct rte_eth_stats before; /* what the device counted before us */
	struct eth_queue rx[PORT_QUEUES_MAX], tx[PORT_QUEUES_MAX];
};

static bool is_pci_address(const char *device)
{
	unsigned domain, bus, slot, function;
	char rest;

	return sscanf(device, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &rest) == 4 ||
	       sscanf(device, "%x:%x.%x%c", &bus, &slot, &function, &rest) == 3;
}

/* Drivers that ask the kernel for each burst. */
static bool makes_system_calls(const char *device)
{
	static const char *const drivers[] = {
		"net_af_packet", "net_af_xdp", "net_pcap", "net_tap", "eth_af_packet", "eth_pcap"};

	for (unsigned i = 0; i < RTE_DIM(drivers); i++)
		if (strncmp(device, drivers[i], strlen(drivers[i])) == 0)
			return true;
	return false;
}

static int eth_parse(struct port *port, const struct config_node *node)
{
	struct eth_port *eth = calloc(1, sizeof(*eth));
	const char *device = config_required(node, "device");
	const char *devargs = config_string(node, "devargs", "");
	struct config_node netns_key = config_child(node, "netns");
	const char *netns = config_string(node, "netns", "");
	int length;

	if (eth == NULL)
		return -1;
	length = snprintf(eth->argument, sizeof(eth->argument), "%s%s%s%s",
		is_pci_address(device) ? "-a" : "--vdev=", device, devargs[0] == '\0' ? "" : ",",
		devargs);
	if (length >= (int)sizeof(eth->argument) || strlen(device) >= sizeof(eth->device))
		config_mistake(node, "device and devargs are too long");
	snprintf(eth->device, sizeof(eth->device), "%.63s", device);
	if (netns[0] != '\0' && is_pci_address(device))
		config_mistake(&netns_key, "a PCI device is in no namespace");
	if (strlen(netns) >= sizeof(eth->netns))
		config_mistake(&netns_key, "expected the name or path of a network namespace");
	snprintf(eth->netns, sizeof(eth->netns), "%.255s", netns);
	eth->link_bps = config_u64(node, "link_bps", 0, 0, 1000000000000);
	eth->wanted_queues = (uint16_t)config_u64(node, "rx_queues", 1, 1, PORT_QUEUES_MAX);
	port->max_frame_bytes = (uint16_t)config_u64(
		node, "max_frame_bytes", 1518, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	port->system_calls = makes_system_calls(device);
	port->device = eth;
	port->nb_rx_queues = eth->wanted_queues;
	port->rx_ring = RX_DESCRIPTORS;
	port->tx_ring = TX_DESCRIPTORS;
	return 0;
}

/* A device in another namespace is made later, by a thread that is there for the moment; one of
 * the kernel's interfaces too, so that its sockets can be told from others. */
static bool is_made_late(const struct eth_port *eth)
{
	return eth->netns[0] != '\0' || strncmp(eth->device, "net_af_", strlen("net_af_")) == 0;
}

static const char *eth_argument(struct port *port)
{
	const struct eth_port *eth = port->device;

	return is_made_late(eth) ? NULL : eth->argument;
}

static int make_device(const struct port *port, const struct eth_port *eth)
{
	const char *devargs = strchr(eth->argument, ',');
	int rc;

	if (!is_made_late(eth))
		return 0;
	rc = rte_eal_hotplug_add("vdev", eth->device, devargs == NULL ? "" : devargs + 1);
	if (rc == 0)
		return 0;
	fprintf(stderr, "port %s: DPDK cannot make %s%s%s (%s): %s\n", port->name, eth->device,
		eth->netns[0] == '\0' ? "" : " in ", eth->netns,
		devargs == NULL ? "no devargs" : devargs + 1, rte_strerror(-rc));
	return -EINVAL;
}

/* Frames larger than standard need the device's consent; some virtual ones have no such call. */
static void set_mtu(struct eth_port *eth, const struct port *port)
{
	uint16_t mtu = port->max_frame_bytes - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN, current;

	if (rte_eth_dev_get_mtu(eth->port_id, &current) == 0 && current != mtu)
		(void)rte_eth_dev_set_mtu(eth->port_id, mtu);
}

/* net_ring hands mbufs over as they were sent. */
static bool marks_port(
	const struct eth_port *eth, const struct port *port, const struct rte_eth_dev_info *info)
{
	return eth->port_id == port->index && strcmp(info->driver_name, "net_ring") != 0;
}

static int setup_queues(
	struct port *port, struct eth_port *eth, const struct rte_eth_dev_info *info)
{
	uint16_t rx_descriptors = RX_DESCRIPTORS, tx_descriptors = TX_DESCRIPTORS;
	struct rte_eth_txconf tx_conf = info->default_txconf;
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(eth->port_id, &rx_descriptors, &tx_descriptors);

	for (uint16_t q = 0; q < port->nb_rx_queues && rc == 0; q++) {
		rc = rte_eth_rx_queue_setup(eth->port_id, q, rx_descriptors,
			rte_eth_dev_socket_id(eth->port_id), NULL, port->pool);
		eth->rx[q] = (struct eth_queue){
			eth->port_id, q, port->index, marks_port(eth, port, info)};
		port->rx_queues[q] = &eth->rx[q];
	}
	for (uint16_t q = 0; q < port->nb_tx_queues && rc == 0; q++) {
		rc = rte_eth_tx_queue_setup(eth->port_id, q, tx_descriptors,
			rte_eth_dev_socket_id(eth->port_id), &tx_conf);
		eth->tx[q] = (struct eth_queue){eth->port_id, q, port->index, false};
		port->tx_queues[q] = &eth->tx[q];
	}
	return rc;
}

/* In the device's namespace. */
static int configure(struct port *port, struct eth_port *eth)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int rc = make_device(port, eth);

	if (rc != 0)
		return rc;
	rc = rte_eth_dev_get_port_by_name(eth->device, &eth->port_id);
	if (rc != 0) {
		fprintf(stderr, "port %s: DPDK has no device \"%s\"\n", port->name, eth->device);
		return -EINVAL;
	}
	eth->found = true;
	rc = rte_eth_dev_info_get(eth->port_id, &info);
	if (rc != 0)
		return rc;
	if (eth->wanted_queues > info.max_rx_queues || port->nb_tx_queues > info.max_tx_queues) {
		fprintf(stderr,
			"port %s: %s has %u rx and %u tx queues, %u (rx_queues) and %u (one a "
			"worker) are needed: give it more by its devargs, or have fewer workers\n",
			port->name, eth->device, info.max_rx_queues, info.max_tx_queues,
			eth->wanted_queues, port->nb_tx_queues);
		return -EINVAL;
	}
	ethdev_flow_want_marks(eth->port_id);
	conf.intr_conf.rxq = port->rx_interrupts;
	if (eth->wanted_queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) &
			info.flow_type_rss_offloads;
	}
	rc = rte_eth_dev_configure(eth->port_id, eth->wanted_queues, port->nb_tx_queues, &conf);
	if (rc != 0) {
		fprintf(stderr,
			"port %s: %s does not take %u rx and %u tx queues (one a worker): %s; try "
			"\"rx_queues\": %u\n",
			port->name, eth->device, eth->wanted_queues, port->nb_tx_queues,
			strerror(-rc), port->nb_tx_queues);
		return -EINVAL;
	}
	set_mtu(eth, port);
	rc = setup_queues(port, eth, &info);
	if (rc == 0)
		(void)rte_eth_macaddr_get(eth->port_id, &port->mac);
	return rc;
}

static int eth_configure(struct port *port)
{
	struct eth_port *eth = port->device;
	struct ethdev_files before;
	struct netns_visit visit;
	int rc = netns_enter(&visit, port->name, eth->netns);

	if (rc != 0)
		return rc;
	ethdev_files_read(&before);
	rc = configure(port, eth);
	if (rc == 0 && is_made_late(eth))
		ethdev_sockets_find(&eth->sockets, &before, eth->argument);
	netns_leave(&visit);
	return rc;
}

static int eth_start(struct port *port)
{
	struct eth_port *eth = port->device;
	struct netns_visit visit;
	int rc = netns_enter(&visit, port->name, eth->netns);

	if (rc != 0)
		return rc;
	rc = rte_eth_dev_start(eth->port_id);
	if (rc == 0) {
		(void)rte_eth_promiscuous_enable(eth->port_id);
		(void)rte_eth_stats_get(eth->port_id, &eth->before);
	}
	netns_leave(&visit);
	return rc;
}

/* The namespace may have been deleted meanwhile: then its interface is gone too, and what the
 * device wants to undo there with it. */
static void eth_stop(struct port *port)
{
	struct eth_port *eth = port->device;
	struct netns_visit visit;

	if (!eth->found || netns_enter(&visit, port->name, eth->netns) != 0)
		return;
	ethdev_sockets_close(&eth->sockets);
	if (rte_eth_dev_stop(eth->port_id) == 0)
		rte_eth_dev_close(eth->port_id);
	netns_leave(&visit);
}

static uint16_t eth_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct eth_queue *rx = queue;

	count = rte_eth_rx_burst(rx->port_id, rx->index, mbufs, count);
	if (unlikely(!rx->marks))
		for (uint16_t i = 0; i < count; i++)
			mbufs[i]->port = rx->engine_port;
	return count;
}

static uint16_t eth_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	const struct eth_queue *tx = queue;

	return rte_eth_tx_burst(tx->port_id, tx->index, mbufs, count);
}

static void eth_rx_interrupt_enable(void *queue)
{
	const struct eth_queue *rx = queue;

	(void)rte_eth_dev_rx_intr_enable(rx->port_id, rx->index);
}

static void eth_rx_interrupt_disable(void *queue)
{
	const struct eth_queue *rx = queue;

	(void)rte_eth_dev_rx_intr_disable(rx->port_id, rx->index);
}

static int eth_rx_wakes(struct port *port, unsigned queue, struct waker *waker)
{
	struct eth_port *eth = port->device;
	const struct waker_queue own = {
		.queue = &eth->rx[queue],
		.enable = eth_rx_interrupt_enable,
		.disable = eth_rx_interrupt_disable,
	};
	int rc = rte_eth_dev_rx_intr_ctl_q(
		eth->port_id, (uint16_t)queue, waker->epoll_fd, RTE_INTR_EVENT_ADD, NULL);

	if (rc != 0)
		return rc;
	rc = rte_eth_dev_rx_intr_enable(eth->port_id, (uint16_t)queue);
	if (rc == 0)
		rc = rte_eth_dev_rx_intr_disable(eth->port_id, (uint16_t)queue);
	else if (rc == -ENOTSUP) /* a device that interrupts always (tap) has no such call */
		return 0;
	return rc == 0 ? waker_add_queue(waker, &own) : rc;
}

static int eth_rss_get(const struct port *port, struct port_rss *rss)
{
	return ethdev_rss_get(((const struct eth_port *)port->device)->port_id, rss);
}

static int eth_rss_set(struct port *port, const struct port_rss *rss)
{
	return ethdev_rss_set(((const struct eth_port *)port->device)->port_id, rss);
}

static void eth_stats(const struct port *port, struct port_stats *stats)
{
	struct eth_port *eth = port->device;
	struct ethdev_drops drops;
	struct rte_eth_stats now;

	if (rte_eth_stats_get(eth->port_id, &now) != 0)
		return;
	stats->rx_packets = now.ipackets - eth->before.ipackets;
	stats->tx_packets = now.opackets - eth->before.opackets;
	/* ethdev counts bytes without FCS. */
	stats->rx_bytes = now.ibytes - eth->before.ibytes + 4 * stats->rx_packets;
	stats->tx_bytes = now.obytes - eth->before.obytes + 4 * stats->tx_packets;
	ethdev_sockets_drops(&eth->sockets, &drops);
	stats->rx_missed =
		eth->sockets.count != 0 ? drops.rx_missed : now.imissed - eth->before.imissed;
	stats->rx_no_mbuf = now.rx_nombuf - eth->before.rx_nombuf;
	stats->more[0] = (struct port_counter){"rx_errors", now.ierrors - eth->before.ierrors};
	stats->more[1] = (struct port_counter){"tx_errors", now.oerrors - eth->before.oerrors};
	stats->more[2] = (struct port_counter){"tx_dropped", drops.tx_dropped};
	stats->nb_more = 3;
}

static void eth_ledger(const struct port *port, struct ledger *ledger)
{
	struct port_stats stats = {0};

	eth_stats(port, &stats);
	ledger_add(ledger, LEDGER_LOSS, stats.rx_missed, "%s: rx missed (ring full)", port->name);
	ledger_add(ledger, LEDGER_LOSS, stats.rx_no_mbuf, "%s: no mbuf", port->name);
	ledger_add(ledger, LEDGER_LOSS, stats.more[0].value, "%s: rx errors", port->name);
	ledger_add(ledger, LEDGER_LOSS, stats.more[2].value, "%s: tx dropped by the interface",
		port->name);
}

static uint64_t eth_link_bps(const struct port *port)
{
	const struct eth_port *eth = port->device;
	struct rte_eth_link link;

	if (eth->link_bps != 0)
		return eth->link_bps;
	/* A virtual device that names a speed has none; only hardware's word counts. */
	if (!is_pci_address(eth->device) || rte_eth_link_get_nowait(eth->port_id, &link) != 0 ||
		link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return (uint64_t)link.link_speed * 1000000;
}

static int eth_flow_validate(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	const struct eth_port *eth = port->device;

	return ethdev_flow_validate(eth->port_id, attr, pattern, actions, error);
}

static struct rte_flow *eth_flow_create(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	const struct eth_port *eth = port->device;

	return ethdev_flow_create(eth->port_id, attr, pattern, actions, error);
}

static int eth_flow_destroy(struct port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	return ethdev_flow_destroy(((const struct eth_port *)port->device)->port_id, flow, error);
}

static int eth_flow_flush(struct port *port, struct rte_flow_error *error)
{
	return ethdev_flow_flush(((const struct eth_port *)port->device)->port_id, error);
}

static int eth_flow_count(struct port *port, struct rte_flow *flow,
	struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	return ethdev_flow_count(
		((const struct eth_port *)port->device)->port_id, flow, count, error);
}

static const char *const keys[] = {
	"device", "devargs", "netns", "link_bps", "rx_queues", "max_frame_bytes", NULL};

static struct port_driver ethdev_driver = {
	.name = "ethdev",
	.keys = keys,
	.parse = eth_parse,
	.eal_argument = eth_argument,
	.configure = eth_configure,
	.start = eth_start,
	.stop = eth_stop,
	.rx_burst = eth_rx_burst,
	.tx_burst = eth_tx_burst,
	.rx_wakes = eth_rx_wakes,
	.rss_get = eth_rss_get,
	.rss_set = eth_rss_set,
	.stats = eth_stats,
	.ledger = eth_ledger,
	.link_bps = eth_link_bps,
	.flow_validate = eth_flow_validate,
	.flow_create = eth_flow_create,
	.flow_destroy = eth_flow_destroy,
	.flow_flush = eth_flow_flush,
	.flow_count = eth_flow_count,
};
PORT_DRIVER_REGISTER(ethdev_driver)
