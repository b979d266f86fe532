/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared part of the drivers on Linux packet sockets (packet(7)): an interface by its name, in
 * whatever network namespace, rx and tx sockets bound to it, and the counters of both.
 *
 * Each rx queue and each tx queue has a socket of its own. A tx socket is bound to no protocol, so
 * that the kernel queues nothing on it; it bypasses the qdisc, which would drop frames after send()
 * accepted them. An rx socket asks for the interface to be promiscuous by a membership, which ends
 * with the socket however the process ends.
 */
#ifndef LINERATE_PACKET_SOCKET_H
#define LINERATE_PACKET_SOCKET_H

#include "port.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <rte_epoll.h>
#include <stddef.h>

/* Room for two VLAN tags that max_frame_bytes does not count, as real cards have it. */
#define PACKET_TAGS_BYTES 8

/* Why a frame that was to be sent is lost here. What merely found no room stays the caller's. */
enum packet_tx_error {
	PACKET_TX_LINK_DOWN, /* the interface is down, or gone */
	PACKET_TX_TOO_LONG,  /* longer than its MTU */
	PACKET_TX_OTHER,
	PACKET_TX_ERRORS,
};

/* Counters of one rx queue; written by the worker that polls it. */
struct packet_rx_counters {
	uint64_t packets, bytes;
	uint64_t too_long; /* lost: longer than the port's max_frame_bytes */
	uint64_t no_mbuf;  /* lost: the kernel had given the frame already */
	uint64_t syscalls, copied_bytes;
	uint64_t finished_checksums;
};

/* Counters of one tx queue; written by the worker that sends on it. */
struct packet_tx_counters {
	uint64_t packets, bytes;
	uint64_t no_buffers; /* frames that the interface or its peer refused (ENOBUFS) */
	uint64_t syscalls, copied_bytes;
	uint64_t errors[PACKET_TX_ERRORS];
};

struct packet_rx {
	int fd;
	unsigned room_bytes; /* longest frame that is taken, without FCS */
	struct rte_mempool *pool;
	uint64_t rearm;
	struct rte_epoll_event event;
	struct packet_rx_counters counters __rte_cache_aligned;
	uint64_t missed __rte_cache_aligned; /* written by who asks for statistics */
} __rte_cache_aligned;

struct packet_tx {
	int fd;
	unsigned max_bytes; /* without FCS: what the interface's MTU lets pass */
	struct packet_tx_counters counters __rte_cache_aligned;
} __rte_cache_aligned;

struct packet_port;

/* A driver's method to move frames; its own part of a queue follows the shared one. */
struct packet_method {
	size_t rx_bytes, tx_bytes; /* sizes of its queues */
	unsigned batch;            /* default of the key "batch"; 0: there is no such key */
	uint16_t rx_ring, tx_ring; /* mbufs that a queue keeps: pools' sizes go by them */
	uint16_t rx_queues_max;
	/* Its own keys; may be NULL. */
	void (*parse)(struct packet_port *port, const struct config_node *node);
	/* In the interface's namespace: make rx->fd or tx->fd and what belongs to it. Return 0, or
	 * -errno, -EINVAL after saying why. */
	int (*open_rx)(struct packet_port *port, struct packet_rx *rx);
	int (*open_tx)(struct packet_port *port, struct packet_tx *tx);
	/* Let go of what open_… made but the socket; may be NULL. */
	void (*close_rx)(struct packet_rx *rx);
	void (*close_tx)(struct packet_tx *tx);
	/* From now on frames come; NULL: packet_rx_bind(). */
	int (*start_rx)(struct packet_port *port, struct packet_rx *rx);
	/* Frames that the kernel dropped since the last call; NULL: PACKET_STATISTICS. */
	uint64_t (*missed)(struct packet_rx *rx);
};

enum packet_link {
	PACKET_LINK_UP,
	PACKET_LINK_DOWN,
	PACKET_LINK_GONE,
};

struct packet_port {
	struct port *port;
	const struct packet_method *method;
	char device[IFNAMSIZ];
	char netns[256];
	unsigned batch;
	bool option; /* the driver's own switch, read by its parse() */
	uint64_t link_bps;
	bool qdisc_bypass; /* frames are sent past the interface's qdisc */
	int index;         /* of the interface */
	unsigned mtu;
	int control_fd; /* for questions, in the interface's namespace */
	int fanout;     /* id and kind of the group of rx sockets; < 0: none yet */
	enum packet_link link;
	unsigned ticks;
	struct port_link record;
	pthread_mutex_t lock; /* of those who ask for statistics, and of the record */
	uint64_t if_dropped_before;
	struct packet_rx *rx[PORT_QUEUES_MAX];
	struct packet_tx *tx[PORT_QUEUES_MAX];
};

/* The parts of a port_driver that are the same for all of them. */
int packet_port_parse(
	struct port *port, const struct config_node *node, const struct packet_method *method);
int packet_port_configure(struct port *port);
int packet_port_start(struct port *port);
void packet_port_stop(struct port *port);
int packet_port_rx_wakes(struct port *port, unsigned queue, struct waker *waker);
void packet_port_stats(const struct port *port, struct port_stats *stats);
void packet_port_ledger(const struct port *port, struct ledger *ledger);
uint64_t packet_port_link_bps(const struct port *port);
void packet_port_tick(struct port *port);
void packet_port_link_read(const struct port *port, struct port_link *link);
/* Registers the driver `text` of the method NAME_method, with NAME_rx_burst() and NAME_tx_burst();
 * its own keys follow. */
#define PACKET_PORT_KEYS \
	"device", "netns", "rx_queues", "tx_queues", "link_bps", "max_frame_bytes", "qdisc_bypass"
#define PACKET_DRIVER(name_, text, ...) \
	static int name_##_parse(struct port *port, const struct config_node *node) \
	{ \
		return packet_port_parse(port, node, &name_##_method); \
	} \
	static const char *const name_##_keys[] = {PACKET_PORT_KEYS, ##__VA_ARGS__, NULL}; \
	static struct port_driver name_##_driver = { \
		.name = (text), \
		.keys = name_##_keys, \
		.parse = name_##_parse, \
		.configure = packet_port_configure, \
		.start = packet_port_start, \
		.stop = packet_port_stop, \
		.rx_wakes = packet_port_rx_wakes, \
		.stats = packet_port_stats, \
		.ledger = packet_port_ledger, \
		.link_bps = packet_port_link_bps, \
		.tick = packet_port_tick, \
		.link_read = packet_port_link_read, \
		.rx_burst = name_##_rx_burst, \
		.tx_burst = name_##_tx_burst, \
	}; \
	PORT_DRIVER_REGISTER(name_##_driver)

/* For methods. Sockets that do not block. Return 0 or -errno, -EINVAL after saying why. */
int packet_rx_open(struct packet_port *port, struct packet_rx *rx);
int packet_tx_open(struct packet_port *port, struct packet_tx *tx);
int packet_rx_bind(struct packet_port *port, struct packet_rx *rx);
/* With the port started: takes the first look at its interface. */
void packet_link_start(struct packet_port *port);
/* Says which privilege or interface is missing, or what else `error` is. Returns -EINVAL. */
int packet_say(const struct packet_port *port, const char *what, int error);

#endif
