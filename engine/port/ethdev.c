/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `ethdev`: any port that DPDK drives, PCI devices and virtual ones (memif, af_xdp,
 * af_packet, tap, ring, null, pcap). "device" is a PCI address or a vdev name.
 */
#include "core/frame.h"
#include "core/ledger.h"
#include "core/memory.h"
#include "core/waker.h"
#include "ethdev_flow.h"
#include "ethdev_flow_async.h"
#include "ethdev_link.h"
#include "ethdev_mac.h"
#include "ethdev_pause.h"
#include "ethdev_queues.h"
#include "ethdev_quirks.h"
#include "ethdev_rss.h"
#include "ethdev_settings.h"
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

#define FLOW_QUEUE_MAX 65536

struct eth_queue {
	uint16_t port_id;
	uint16_t index;
	uint16_t engine_port; /* port->index: what mbuf->port is everywhere else */
	bool marks;           /* the device's driver leaves that in mbuf->port */
	uint64_t packets;     /* that the queue's worker got of the device, or gave it */
} __rte_cache_aligned;

struct eth_port {
	uint16_t port_id;
	bool found; /* DPDK has the device, and port_id is its */
	char argument[512];
	char device[64];
	char netns[NETNS_PATH_MAX]; /* of the interface beneath a virtual device; "" is ours */
	uint64_t link_bps;          /* as configured; 0: ask the driver */
	struct ethdev_queues queues;
	struct ethdev_sockets sockets;
	struct ethdev_mac mac;
	struct ethdev_settings settings;
	struct ethdev_pause pause;
	struct ethdev_link link;
	uint32_t flow_queue; /* operations of it as configured; 0: none */
	struct flow_async flow_async;
	struct rte_eth_conf conf;
	struct rte_eth_stats before; /* what the device counted before us */
	unsigned fcs_bytes;          /* of a frame that its counts of bytes leave out */
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
	struct eth_port *eth = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*eth));
	const char *device = config_required(node, "device");
	const char *devargs = config_string(node, "devargs", "");
	struct config_node netns_key = config_child(node, "netns");
	const char *netns = config_string(node, "netns", "");
	int length;

	if (eth == NULL)
		return -1;
	memset(eth, 0, sizeof(*eth));
	length = snprintf(eth->argument, sizeof(eth->argument), "%s%s%s%s",
		is_pci_address(device) ? "-a" : "--vdev=", device, devargs[0] == '\0' ? "" : ",",
		devargs);
	if (length >= (int)sizeof(eth->argument) ||
		ethdev_mac_devargs(port, eth->argument, sizeof(eth->argument)) != 0 ||
		strlen(device) >= sizeof(eth->device))
		config_mistake(node, "device and devargs are too long");
	snprintf(eth->device, sizeof(eth->device), "%.63s", device);
	if (netns[0] != '\0' && is_pci_address(device))
		config_mistake(&netns_key, "a PCI device is in no namespace");
	if (strlen(netns) >= sizeof(eth->netns))
		config_mistake(&netns_key, "expected the name or path of a network namespace");
	snprintf(eth->netns, sizeof(eth->netns), "%.255s", netns);
	eth->flow_queue = (uint32_t)config_u64(node, "flow_queue", 0, 0, FLOW_QUEUE_MAX);
	eth->link_bps = config_u64(node, "link_bps", 0, 0, 1000000000000);
	port->max_frame_bytes = (uint16_t)config_u64(
		node, "max_frame_bytes", FRAME_BYTES_DEFAULT, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	ethdev_settings_parse(&eth->settings, node);
	port->system_calls = makes_system_calls(device);
	port->device = eth;
	ethdev_queues_parse(&eth->queues, port, device, node);
	return 0;
}

/* A device in another namespace is made later, by a temporary thread; one of the kernel's
 * interfaces too, so that its sockets can be distinguished from others. */
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

/* net_ring hands mbufs over as they were sent. */
static bool marks_port(
	const struct eth_port *eth, const struct port *port, const struct rte_eth_dev_info *info)
{
	return eth->port_id == port->index && strcmp(info->driver_name, "net_ring") != 0;
}

static int setup_queues(
	struct port *port, struct eth_port *eth, const struct rte_eth_dev_info *info)
{
	struct rte_eth_txconf tx_conf = info->default_txconf;
	int rc = 0;

	for (uint16_t q = 0; q < port->nb_rx_queues && rc == 0; q++) {
		rc = rte_eth_rx_queue_setup(eth->port_id, q, (uint16_t)port->rx_ring,
			rte_eth_dev_socket_id(eth->port_id), NULL, port->pool);
		eth->rx[q] = (struct eth_queue){
			eth->port_id, q, port->index, marks_port(eth, port, info), 0};
		port->rx_queues[q] = &eth->rx[q];
	}
	for (uint16_t q = 0; q < port->nb_tx_queues && rc == 0; q++) {
		rc = rte_eth_tx_queue_setup(eth->port_id, q, (uint16_t)port->tx_ring,
			rte_eth_dev_socket_id(eth->port_id), &tx_conf);
		eth->tx[q] = (struct eth_queue){eth->port_id, q, port->index, false, 0};
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
	rc = ethdev_queues_configure(&eth->queues, port, eth->port_id, &info, &conf);
	if (rc != 0)
		return rc;
	rc = ethdev_settings_plan(port, &info, &conf);
	if (rc != 0)
		return rc;
	eth->fcs_bytes = ethdev_quirks_of(&info)->bytes_with_fcs ? 0 : RTE_ETHER_CRC_LEN;
	ethdev_flow_want_marks(eth->port_id);
	conf.intr_conf.rxq = port->rx_interrupts;
	eth->conf = conf;
	rc = rte_eth_dev_configure(eth->port_id, port->nb_rx_queues, port->nb_tx_queues, &conf);
	if (rc != 0) {
		fprintf(stderr,
			"port %s: %s does not take %u rx and %u tx queues (one a worker): %s; try "
			"\"rx_queues\": %u\n",
			port->name, eth->device, port->nb_rx_queues, port->nb_tx_queues,
			strerror(-rc), port->nb_tx_queues);
		return -EINVAL;
	}
	rc = ethdev_settings_configure(&eth->settings, port, eth->port_id);
	if (rc == 0)
		rc = setup_queues(port, eth, &info);
	if (rc == 0)
		ethdev_mac_configure(port, eth->port_id, &eth->mac);
	if (rc == 0 && eth->flow_queue != 0)
		flow_async_configure(
			&eth->flow_async, &ethdev_flow_async_dpdk, eth->port_id, eth->flow_queue);
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
		ethdev_settings_start(&eth->settings, port, eth->port_id);
		ethdev_pause_find(&eth->pause, eth->port_id);
		(void)rte_eth_stats_get(eth->port_id, &eth->before);
		ethdev_link_start(&eth->link, port, eth->port_id, &eth->sockets);
		ethdev_queues_taken(port, eth->port_id, &eth->conf);
	}
	netns_leave(&visit);
	return rc;
}

/* The namespace may have been deleted since: then its interface is gone too, and with it the
 * settings that the device wants to undo there. */
static void eth_stop(struct port *port)
{
	struct eth_port *eth = port->device;
	struct netns_visit visit;

	if (!eth->found || netns_enter(&visit, port->name, eth->netns) != 0)
		return;
	ethdev_link_stop(&eth->link);
	ethdev_sockets_close(&eth->sockets);
	ethdev_mac_restore(&eth->mac, eth->port_id);
	if (rte_eth_dev_stop(eth->port_id) == 0)
		rte_eth_dev_close(eth->port_id);
	netns_leave(&visit);
}

static uint16_t eth_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct eth_queue *rx = queue;

	count = rte_eth_rx_burst(rx->port_id, rx->index, mbufs, count);
	rx->packets += count;
	if (unlikely(!rx->marks))
		for (uint16_t i = 0; i < count; i++)
			mbufs[i]->port = rx->engine_port;
	return count;
}

static uint16_t eth_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct eth_queue *tx = queue;

	count = rte_eth_tx_burst(tx->port_id, tx->index, mbufs, count);
	tx->packets += count;
	return count;
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

/*
 * Frames that the device took and did not send, once its link has been down, its rings' too. Should
 * it send those when the link is up again, they are lost no more. `sent`: by its own count.
 */
static uint64_t lost_by_link(struct eth_port *eth, uint64_t sent, uint64_t dropped)
{
	struct netlink_link interface;
	struct port_link link;
	uint64_t given = 0;

	ethdev_link_read(&eth->link, &link);
	if (!link.known || (link.up && link.downs == 0))
		return 0;
	for (unsigned q = 0; q < PORT_QUEUES_MAX; q++)
		given += __atomic_load_n(&eth->tx[q].packets, __ATOMIC_RELAXED);
	/* Drivers of the kernel's interfaces count what they gave it as sent. */
	if (ethdev_sockets_interface(&eth->sockets, &interface) == 0)
		sent = interface.tx_packets - eth->sockets.if_sent_before;
	return given > sent + dropped ? given - sent - dropped : 0;
}

static void add_queues(
	const struct port *port, const struct eth_port *eth, struct port_stats *stats)
{
	static const char *const names[PORT_QUEUES_MAX] = {"rx_queue0_packets", "rx_queue1_packets",
		"rx_queue2_packets", "rx_queue3_packets", "rx_queue4_packets", "rx_queue5_packets",
		"rx_queue6_packets", "rx_queue7_packets", "rx_queue8_packets", "rx_queue9_packets",
		"rx_queue10_packets", "rx_queue11_packets", "rx_queue12_packets",
		"rx_queue13_packets", "rx_queue14_packets", "rx_queue15_packets"};

	for (unsigned q = 0; q < port->nb_rx_queues; q++)
		stats->more[stats->nb_more++] = (struct port_counter){
			names[q], __atomic_load_n(&eth->rx[q].packets, __ATOMIC_RELAXED)};
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
	stats->rx_bytes = now.ibytes - eth->before.ibytes + eth->fcs_bytes * stats->rx_packets;
	stats->tx_bytes = now.obytes - eth->before.obytes + eth->fcs_bytes * stats->tx_packets;
	ethdev_sockets_drops(&eth->sockets, &drops);
	stats->rx_missed =
		eth->sockets.count != 0 ? drops.rx_missed : now.imissed - eth->before.imissed;
	stats->rx_no_mbuf = now.rx_nombuf - eth->before.rx_nombuf;
	stats->more[0] = (struct port_counter){"rx_errors", now.ierrors - eth->before.ierrors};
	stats->more[1] = (struct port_counter){"tx_errors", now.oerrors - eth->before.oerrors};
	stats->more[2] = (struct port_counter){"tx_dropped", drops.tx_dropped};
	stats->more[3] = (struct port_counter){
		"tx_link_down", lost_by_link(eth, stats->tx_packets, drops.tx_dropped)};
	stats->nb_more = 4;
	if (eth->pause.nb_counters != 0)
		stats->more[stats->nb_more++] = (struct port_counter){
			"rx_pause", ethdev_pause_received(&eth->pause, eth->port_id)};
	add_queues(port, eth, stats);
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
	ledger_add(ledger, LEDGER_LOSS, stats.more[3].value, "%s: link down", port->name);
}

static void eth_link_read(const struct port *port, struct port_link *link)
{
	struct eth_port *eth = port->device;

	ethdev_link_read(&eth->link, link);
	/* A virtual device that names a speed has none; only hardware's word counts. */
	if (!is_pci_address(eth->device))
		link->speed_bps = 0;
}

static void eth_tick(struct port *port)
{
	ethdev_link_tick(&((struct eth_port *)port->device)->link);
}

static const struct port_settings *eth_settings(const struct port *port)
{
	return &((const struct eth_port *)port->device)->settings.report;
}

static uint64_t eth_link_bps(const struct port *port)
{
	const struct eth_port *eth = port->device;
	struct port_link link;

	if (eth->link_bps != 0)
		return eth->link_bps;
	eth_link_read(port, &link);
	return link.speed_bps;
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

static int eth_flow_batch(
	struct port *port, struct port_flow_batch *batch, struct rte_flow_error *error)
{
	struct eth_port *eth = port->device;

	if (eth->flow_queue == 0)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"the port was opened without a flow queue (flow_queue)");
	return flow_async_batch(&eth->flow_async, batch, error);
}

static const char *const keys[] = {"device", "devargs", "netns", "link_bps", "flow_queue",
	ETHDEV_QUEUES_KEYS, "max_frame_bytes", ETHDEV_SETTINGS_KEYS, NULL};

static struct port_driver ethdev_driver = {
	.name = "ethdev",
	.keys = keys,
	.parse = eth_parse,
	.eal_argument = eth_argument,
	.configure = eth_configure,
	.start = eth_start,
	.stop = eth_stop,
	.tick = eth_tick,
	.rx_burst = eth_rx_burst,
	.tx_burst = eth_tx_burst,
	.rx_wakes = eth_rx_wakes,
	.rss_get = eth_rss_get,
	.rss_set = eth_rss_set,
	.stats = eth_stats,
	.ledger = eth_ledger,
	.settings = eth_settings,
	.link_bps = eth_link_bps,
	.link_read = eth_link_read,
	.flow_validate = eth_flow_validate,
	.flow_create = eth_flow_create,
	.flow_destroy = eth_flow_destroy,
	.flow_flush = eth_flow_flush,
	.flow_count = eth_flow_count,
	.flow_batch = eth_flow_batch,
};
PORT_DRIVER_REGISTER(ethdev_driver)
