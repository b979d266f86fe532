/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_socket.h"

#include "core/frame.h"
#include "core/ledger.h"
#include "core/waker.h"
#include "fresh.h"
#include "netlink_link.h"
#include "netns.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A frame of 64 bytes takes about 800 of a socket's buffer: room for some 5,000. */
#define SOCKET_BUFFER_BYTES (4 << 20)

int packet_say(const struct packet_port *port, const char *what, int error)
{
	const char *hint = "";

	if (error == EPERM || error == EACCES)
		hint = "; packet sockets need CAP_NET_RAW: run as root, or "
		       "`setcap cap_net_raw,cap_net_admin,cap_sys_admin+ep` the engine";
	else if (error == ENODEV)
		hint = port->netns[0] == '\0' ? "; `ip link` lists the interfaces"
					      : "; `ip -n NETNS link` lists the interfaces";
	fprintf(stderr, "port %s: %s%s%s: %s: %s%s\n", port->port->name, port->device,
		port->netns[0] == '\0' ? "" : " in ", port->netns, what, strerror(error), hint);
	return -EINVAL;
}

int packet_port_parse(
	struct port *port, const struct config_node *node, const struct packet_method *method)
{
	struct packet_port *packet = calloc(1, sizeof(*packet));
	struct config_node device_key = config_child(node, "device");
	struct config_node netns_key = config_child(node, "netns");
	const char *device = config_required(node, "device");
	const char *netns = config_string(node, "netns", "");

	if (packet == NULL)
		return -1;
	if (strlen(device) >= IFNAMSIZ || strchr(device, '/') != NULL)
		config_mistake(&device_key, "expected the name of a network interface");
	if (strlen(netns) >= sizeof(packet->netns) - sizeof("/run/netns/"))
		config_mistake(&netns_key, "expected the name or path of a network namespace");
	snprintf(packet->device, sizeof(packet->device), "%.15s", device);
	snprintf(packet->netns, sizeof(packet->netns), "%.200s", netns);
	packet->port = port;
	packet->method = method;
	packet->control_fd = packet->fanout = -1;
	packet->qdisc_bypass = config_bool(node, "qdisc_bypass", true);
	packet->link_bps = config_u64(node, "link_bps", 0, 0, 1000000000000);
	if (method->batch != 0)
		packet->batch = (unsigned)config_u64(node, "batch", method->batch, 1, 256);
	port_parse_tx_queues(port, node);
	port->nb_rx_queues = (uint16_t)config_u64(node, "rx_queues", 1, 1, method->rx_queues_max);
	port->max_frame_bytes = (uint16_t)config_u64(
		node, "max_frame_bytes", FRAME_BYTES_DEFAULT, FRAME_BYTES_MIN, FRAME_BYTES_MAX);
	port->rx_ring = method->rx_ring;
	port->tx_ring = method->tx_ring;
	port->system_calls = true;
	port->device = packet;
	pthread_mutex_init(&packet->lock, NULL);
	if (method->parse != NULL)
		method->parse(packet, node);
	return 0;
}

/* As large as privilege allows, else as the system's limit allows. */
static void set_buffer(int fd, int forced, int option)
{
	int bytes = SOCKET_BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes));
}

/* With protocol 0, so that nothing is received until the socket is bound to one. */
static int open_socket(struct packet_port *port, int *fd)
{
	*fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return *fd < 0 ? packet_say(port, "packet socket", errno) : 0;
}

static int bind_socket(struct packet_port *port, int fd, uint16_t protocol)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = rte_cpu_to_be_16(protocol),
		.sll_ifindex = port->index,
	};

	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0
		       ? 0
		       : packet_say(port, "bind", errno);
}

int packet_rx_open(struct packet_port *port, struct packet_rx *rx)
{
	struct packet_mreq promiscuous = {.mr_ifindex = port->index, .mr_type = PACKET_MR_PROMISC};
	int one = 1, rc = open_socket(port, &rx->fd);

	if (rc != 0)
		return rc;
	set_buffer(rx->fd, SO_RCVBUFFORCE, SO_RCVBUF);
	if (setsockopt(rx->fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) != 0)
		return packet_say(port, "PACKET_AUXDATA", errno);
	if (setsockopt(rx->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) != 0)
		return packet_say(port, "PACKET_IGNORE_OUTGOING (Linux 4.20 has it)", errno);
	if (setsockopt(rx->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		    sizeof(promiscuous)) != 0)
		return packet_say(port, "promiscuous mode", errno);
	return 0;
}

int packet_tx_open(struct packet_port *port, struct packet_tx *tx)
{
	int bypass = port->qdisc_bypass, rc = open_socket(port, &tx->fd);

	if (rc != 0)
		return rc;
	set_buffer(tx->fd, SO_SNDBUFFORCE, SO_SNDBUF);
	if (setsockopt(tx->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass)) != 0)
		return packet_say(port, "PACKET_QDISC_BYPASS", errno);
	return bind_socket(port, tx->fd, 0);
}

/* Several rx sockets share packets by a hash of the flow, the same in both directions. The first
 * requests an unused group; the others join it. */
static int join_fanout(struct packet_port *port, const struct packet_rx *rx)
{
	int group = PACKET_FANOUT_HASH << 16;
	socklen_t bytes = sizeof(group);

	if (port->port->nb_rx_queues == 1)
		return 0;
	if (port->fanout < 0)
		group |= PACKET_FANOUT_FLAG_UNIQUEID << 16;
	else
		group = port->fanout;
	if (setsockopt(rx->fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof(group)) != 0 ||
		getsockopt(rx->fd, SOL_PACKET, PACKET_FANOUT, &group, &bytes) != 0)
		return packet_say(port, "PACKET_FANOUT", errno);
	if (port->fanout < 0)
		port->fanout = (group & 0xffff) | PACKET_FANOUT_HASH << 16;
	return 0;
}

int packet_rx_bind(struct packet_port *port, struct packet_rx *rx)
{
	int rc = bind_socket(port, rx->fd, ETH_P_ALL);

	return rc == 0 ? join_fanout(port, rx) : rc;
}

static int find_interface(struct packet_port *port)
{
	struct netlink_link link;
	int rc;

	port->control_fd = netlink_link_open();
	if (port->control_fd < 0)
		return packet_say(port, "netlink socket", -port->control_fd);
	rc = netlink_link_get(port->control_fd, port->device, 0, &link);
	if (rc != 0)
		return packet_say(port, "interface", -rc);
	if (!link.ethernet) {
		fprintf(stderr, "port %s: %s is no Ethernet interface\n", port->port->name,
			port->device);
		return -EINVAL;
	}
	port->index = link.index;
	port->mtu = link.mtu;
	port->if_dropped_before = link.tx_dropped;
	if (!port->port->mac_given)
		port->port->mac = link.mac;
	return 0;
}

static int open_rx(struct packet_port *port, unsigned queue)
{
	struct packet_rx *rx = aligned_alloc(RTE_CACHE_LINE_SIZE, port->method->rx_bytes);

	if (rx == NULL)
		return -ENOMEM;
	memset(rx, 0, port->method->rx_bytes);
	rx->fd = -1;
	rx->room_bytes = port->port->max_frame_bytes - RTE_ETHER_CRC_LEN + PACKET_TAGS_BYTES;
	rx->pool = port->port->pool;
	rx->rearm = fresh_rearm(port->port->pool, port->port->index);
	port->rx[queue] = rx;
	port->port->rx_queues[queue] = rx;
	return port->method->open_rx(port, rx);
}

static int open_tx(struct packet_port *port, unsigned queue)
{
	struct packet_tx *tx = aligned_alloc(RTE_CACHE_LINE_SIZE, port->method->tx_bytes);

	if (tx == NULL)
		return -ENOMEM;
	memset(tx, 0, port->method->tx_bytes);
	tx->fd = -1;
	tx->max_bytes = port->mtu + RTE_ETHER_HDR_LEN;
	port->tx[queue] = tx;
	port->port->tx_queues[queue] = tx;
	return port->method->open_tx(port, tx);
}

int packet_port_configure(struct port *port)
{
	struct packet_port *packet = port->device;
	struct netns_visit visit;
	int rc = netns_enter(&visit, port->name, packet->netns);

	if (rc != 0)
		return rc;
	rc = find_interface(packet);
	for (unsigned q = 0; q < port->nb_rx_queues && rc == 0; q++)
		rc = open_rx(packet, q);
	for (unsigned q = 0; q < port->nb_tx_queues && rc == 0; q++)
		rc = open_tx(packet, q);
	netns_leave(&visit);
	return rc;
}

int packet_port_start(struct port *port)
{
	struct packet_port *packet = port->device;
	int rc = 0;

	for (unsigned q = 0; q < port->nb_rx_queues && rc == 0; q++)
		rc = packet->method->start_rx == NULL
			     ? packet_rx_bind(packet, packet->rx[q])
			     : packet->method->start_rx(packet, packet->rx[q]);
	if (rc == 0)
		packet_link_start(packet);
	return rc;
}

void packet_port_stop(struct port *port)
{
	struct packet_port *packet = port->device;

	for (unsigned q = 0; q < PORT_QUEUES_MAX; q++) {
		struct packet_rx *rx = packet->rx[q];
		struct packet_tx *tx = packet->tx[q];

		if (rx != NULL && packet->method->close_rx != NULL)
			packet->method->close_rx(rx);
		if (rx != NULL && rx->fd >= 0)
			close(rx->fd);
		if (tx != NULL && packet->method->close_tx != NULL)
			packet->method->close_tx(tx);
		if (tx != NULL && tx->fd >= 0)
			close(tx->fd);
	}
	if (packet->control_fd >= 0)
		close(packet->control_fd);
}

int packet_port_rx_wakes(struct port *port, unsigned queue, struct waker *waker)
{
	struct packet_port *packet = port->device;
	struct packet_rx *rx = packet->rx[queue];

	/* The file reports what waits in it each time it is asked: nothing to enable or disable. */
	rx->event.epdata.event = EPOLLIN;
	return rte_epoll_ctl(waker->epoll_fd, EPOLL_CTL_ADD, rx->fd, &rx->event);
}

/* The kernel clears its counters when they are read; version 3 of the ring has one more. */
static uint64_t kernel_drops(struct packet_rx *rx)
{
	union tpacket_stats_u stats = {0};
	socklen_t bytes = sizeof(stats);

	if (getsockopt(rx->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) != 0)
		return 0;
	return stats.stats1.tp_drops;
}

static uint64_t read_missed(struct packet_port *packet)
{
	uint64_t missed = 0;

	pthread_mutex_lock(&packet->lock);
	for (unsigned q = 0; q < packet->port->nb_rx_queues; q++) {
		struct packet_rx *rx = packet->rx[q];

		rx->missed += packet->method->missed == NULL ? kernel_drops(rx)
							     : packet->method->missed(rx);
		missed += rx->missed;
	}
	pthread_mutex_unlock(&packet->lock);
	return missed;
}

/* Counters are words of 64 bits and nothing else. */
static void add_counters(void *total, const void *one, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)total)[i] += ((const uint64_t *)one)[i];
}

static struct packet_rx_counters rx_total(const struct packet_port *packet)
{
	struct packet_rx_counters total = {0};

	for (unsigned q = 0; q < packet->port->nb_rx_queues; q++)
		add_counters(&total, &packet->rx[q]->counters, sizeof(total));
	return total;
}

static struct packet_tx_counters tx_total(const struct packet_port *packet)
{
	struct packet_tx_counters total = {0};

	for (unsigned q = 0; q < packet->port->nb_tx_queues; q++)
		add_counters(&total, &packet->tx[q]->counters, sizeof(total));
	return total;
}

void packet_port_stats(const struct port *port, struct port_stats *stats)
{
	struct packet_port *packet = port->device;
	const struct packet_rx_counters rx = rx_total(packet);
	const struct packet_tx_counters tx = tx_total(packet);
	const struct port_counter more[] = {
		{"link_up", __atomic_load_n(&packet->link, __ATOMIC_RELAXED) == PACKET_LINK_UP},
		{"rx_too_long", rx.too_long},
		{"rx_finished_checksums", rx.finished_checksums},
		{"rx_syscalls", rx.syscalls},
		{"rx_copied_bytes", rx.copied_bytes},
		{"tx_syscalls", tx.syscalls},
		{"tx_copied_bytes", tx.copied_bytes},
		{"tx_no_buffers", tx.no_buffers},
		{"tx_link_down", tx.errors[PACKET_TX_LINK_DOWN]},
		{"tx_too_long", tx.errors[PACKET_TX_TOO_LONG]},
		{"tx_errors", tx.errors[PACKET_TX_OTHER]},
	};

	stats->rx_packets = rx.packets;
	stats->rx_bytes = rx.bytes;
	stats->rx_missed = read_missed(packet);
	stats->rx_no_mbuf = rx.no_mbuf;
	stats->tx_packets = tx.packets;
	stats->tx_bytes = tx.bytes;
	memcpy(stats->more, more, sizeof(more));
	stats->nb_more = RTE_DIM(more);
}

/*
 * Frames that the interface took and dropped without telling the sender: veth before Linux 6.3,
 * when its peer's backlog is full. What it does tell, by ENOBUFS, it counts as dropped too.
 */
static uint64_t dropped_unreported(struct packet_port *packet, uint64_t reported)
{
	struct netlink_link link;
	uint64_t dropped = 0;

	pthread_mutex_lock(&packet->lock);
	if (packet->control_fd >= 0 &&
		netlink_link_get(packet->control_fd, NULL, packet->index, &link) == 0)
		dropped = link.tx_dropped - packet->if_dropped_before;
	pthread_mutex_unlock(&packet->lock);
	return dropped > reported ? dropped - reported : 0;
}

void packet_port_ledger(const struct port *port, struct ledger *ledger)
{
	static const char *const errors[PACKET_TX_ERRORS] = {
		[PACKET_TX_LINK_DOWN] = "link down",
		[PACKET_TX_TOO_LONG] = "longer than the interface's MTU",
		[PACKET_TX_OTHER] = "send error",
	};
	struct packet_port *packet = port->device;
	const struct packet_rx_counters rx = rx_total(packet);
	const struct packet_tx_counters tx = tx_total(packet);

	ledger_add(ledger, LEDGER_LOSS, read_missed(packet), "%s: rx missed (socket full)",
		port->name);
	ledger_add(ledger, LEDGER_LOSS, rx.no_mbuf, "%s: no mbuf", port->name);
	ledger_add(
		ledger, LEDGER_LOSS, rx.too_long, "%s: rx longer than max_frame_bytes", port->name);
	for (unsigned e = 0; e < PACKET_TX_ERRORS; e++)
		ledger_add(ledger, LEDGER_LOSS, tx.errors[e], "%s: tx %s", port->name, errors[e]);
	ledger_add(ledger, LEDGER_LOSS, dropped_unreported(packet, tx.no_buffers),
		"%s: tx dropped by the interface", port->name);
}

uint64_t packet_port_link_bps(const struct port *port)
{
	return ((const struct packet_port *)port->device)->link_bps;
}
