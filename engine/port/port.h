/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only door between graph and wire. A driver is one file that fills a
 * `struct port_driver` and registers it; see docs/add-a-port-driver.md.
 */
#ifndef LINERATE_PORT_H
#define LINERATE_PORT_H

#include "core/config.h"
#include "core/frame.h"
#include "core/registry.h"

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_flow.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#define PORTS_MAX 64
#define PORT_QUEUES_MAX 16
#define PORT_COUNTERS_MAX 64
#define PORT_RSS_TEXT_MAX 160

struct capture_taps;
struct ledger;
struct port;
struct waker;

/* One named counter of a driver, for `show ports`. */
struct port_counter {
	const char *name; /* letters, digits and _ */
	uint64_t value;
};

/* Counted since the engine started. Bytes include the 4-byte FCS. */
struct port_stats {
	uint64_t rx_packets, rx_bytes, rx_missed, rx_no_mbuf;
	uint64_t tx_packets, tx_bytes;
	unsigned nb_more;
	struct port_counter more[PORT_COUNTERS_MAX];
};

/* Receive side scaling: the low bits of a flow's hash choose an entry of the indirection table,
 * which names the rx queue. */
#define PORT_RETA_MAX 512
struct port_rss {
	bool symmetric;      /* both directions of a flow get the same hash */
	uint32_t fields;     /* enum flow_fields */
	uint16_t nb_entries; /* 0: the device has no table that can be read */
	uint16_t entries[PORT_RETA_MAX];
};

/* Requested and actual setting of a device: "none" when it has no such setting. */
#define PORT_SETTINGS_MAX 8
struct port_setting {
	const char *name;
	char asked[24], actual[24];
};
struct port_settings {
	unsigned count;
	struct port_setting rows[PORT_SETTINGS_MAX];
};

/* A link and when it last changed; what was so when the port started is no change. */
struct port_link {
	bool known; /* the driver says */
	bool up;
	bool full_duplex;
	uint64_t speed_bps;        /* 0: unknown */
	uint64_t downs, ups;       /* how often it went down and came up */
	uint64_t down_tsc, up_tsc; /* the last time; 0: never */
};

/* Rules that differ in what vary() changes in `pattern`, through rte_flow's asynchronous API. */
struct port_flow_batch {
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	uint32_t count;
	void (*vary)(void *rule, uint32_t number);
	void *rule;
	/* The answer. */
	uint32_t queue_size; /* operations that the device's queue holds */
	uint32_t created, destroyed;
	uint64_t create_ns, destroy_ns; /* of all together */
};

struct port_driver {
	const char *name;
	const char *const *keys; /* that the driver knows beside "name", "driver", "mac" */
	/* True for the tester's end of a card: a forwarder cannot use it. */
	bool wire_end;
	/* Before EAL starts: reads its own keys; mistakes are counted in the file. */
	int (*parse)(struct port *port, const struct config_node *node);
	/* Extra EAL argument that the port needs, or NULL: "--vdev=…", "-a…". */
	const char *(*eal_argument)(struct port *port);
	/* With EAL up: makes rx and tx queues. port->nb_rx_queues is what the driver offers,
	 * port->nb_tx_queues what the graph wants. Returns 0, -EINVAL after saying why, or another
	 * -errno. */
	int (*configure)(struct port *port);
	int (*start)(struct port *port);
	void (*stop)(struct port *port);
	/* Called by the control thread at least every 20 ms while workers walk. May be NULL. */
	void (*tick)(struct port *port);
	/* Data path; `queue` is port->rx_queues[i] or port->tx_queues[i]. tx_burst takes
	 * ownership of the frames it accepts, from the first on. */
	uint16_t (*rx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	uint16_t (*tx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	/* Once started, and before any frame: what comes to the rx queue shall wake the worker
	 * (waker.h). NULL when the driver has no such thing. Returns 0 or -errno. */
	int (*rx_wakes)(struct port *port, unsigned queue, struct waker *waker);
	/* RSS settings, read and changed while frames arrive; NULL when the port has none. Return 0
	 * or -errno. */
	int (*rss_get)(const struct port *port, struct port_rss *rss);
	int (*rss_set)(struct port *port, const struct port_rss *rss);
	void (*stats)(const struct port *port, struct port_stats *stats);
	/* Adds the driver's places of loss; may be NULL. */
	void (*ledger)(const struct port *port, struct ledger *ledger);
	/* Settings of the device, once started; may be NULL. */
	const struct port_settings *(*settings)(const struct port *port);
	/* L1 rate in bits a second, 0 when unknown or unpaced. */
	uint64_t (*link_bps)(const struct port *port);
	/* The link as it was seen last, without asking the device; NULL when the port has none. */
	void (*link_read)(const struct port *port, struct port_link *link);
	/* The clock that paces this port, in TSC cycles; NULL for the TSC itself. */
	uint64_t (*clock)(const struct port *port);
	/* A part that several ports have in common, so that one worker must do the work of all of
	 * them; NULL: there is none. */
	const void *(*shared)(const struct port *port);
	/* Offload rules, as rte_flow's and with its return values: 0 or -errno, or NULL, and *error
	 * then says why. From any thread but workers: a rule may take the device over 10 ms. Rules
	 * are gone without notice after a reset; a handle from before is then refused. NULL when
	 * the port takes none: callers use port_flow_…(), which say so. */
	int (*flow_validate)(struct port *port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
		struct rte_flow_error *error);
	struct rte_flow *(*flow_create)(struct port *port, const struct rte_flow_attr *attr,
		const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
		struct rte_flow_error *error);
	int (*flow_destroy)(struct port *port, struct rte_flow *flow, struct rte_flow_error *error);
	/* Also those that others made. */
	int (*flow_flush)(struct port *port, struct rte_flow_error *error);
	/* Reads the counters of a rule's action COUNT. */
	int (*flow_count)(struct port *port, struct rte_flow *flow,
		struct rte_flow_query_count *count, struct rte_flow_error *error);
	/* Makes the batch's rules and removes them, by one thread at a time. NULL when the port has
	 * no asynchronous API. Returns 0 or -errno with *error. */
	int (*flow_batch)(
		struct port *port, struct port_flow_batch *batch, struct rte_flow_error *error);
	/* As when hardware resets itself: rules are gone without notice, the link stays. May be
	 * NULL. */
	void (*reset)(struct port *port);

	struct port_driver *link;
};

/* Data of one queue pair of a port that nodes need, on one cache line. */
struct port_queue {
	uint16_t (*rx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	void *rx; /* NULL: no such rx queue */
	uint16_t (*tx_burst)(void *queue, struct rte_mbuf **mbufs, uint16_t count);
	void *tx; /* NULL: no such tx queue */
	struct port *port;
	uint64_t *received_tsc;          /* where rx stores the time of reception; NULL: unused */
	const struct capture_taps *taps; /* captures that are on (capture_tap.h); NULL: none */
} __rte_cache_aligned;

struct port {
	char name[32];
	uint16_t index;
	bool wire_end;
	bool tester;        /* used by the tester: keeps frames that found no room */
	bool rx_interrupts; /* its workers may sleep */
	bool stamps_rx;     /* some of what it receives carries the time when it was sent */
	bool link_down;     /* as was seen last; written by the control thread */
	bool system_calls;  /* its data path makes some: a vector may take a millisecond */
	bool mac_given;     /* mac was configured; else it is the device's, or one made here */
	struct rte_ether_addr mac;
	struct port_driver *driver;
	void *device; /* the driver's own */
	uint16_t nb_rx_queues, nb_tx_queues;
	uint16_t asked_tx_queues; /* by the configuration; 0: it does not say */
	void *rx_queues[PORT_QUEUES_MAX];
	void *tx_queues[PORT_QUEUES_MAX];
	struct port_queue queues[PORT_QUEUES_MAX]; /* of the two above, once configured */
	struct rte_mempool *pool;                  /* for received frames */
	uint16_t max_frame_bytes;                  /* FCS included */
	char rss[PORT_RSS_TEXT_MAX]; /* fields that choose the rx queue, where that is known */
	uint32_t rx_ring, tx_ring;   /* descriptors a queue: pools' sizes go by them */
};

/* Largest IP packet: the VLAN tag that the default has room for is no part of it. */
static inline uint16_t port_mtu(const struct port *port)
{
	unsigned bytes = port->max_frame_bytes;

	if (bytes > RTE_ETHER_MAX_LEN && bytes <= FRAME_BYTES_DEFAULT)
		bytes = RTE_ETHER_MAX_LEN;
	return (uint16_t)(bytes - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN);
}

static inline bool port_link_is_down(const struct port *port)
{
	return __atomic_load_n(&port->link_down, __ATOMIC_RELAXED);
}
/* For drivers: reads their key "tx_queues". */
void port_parse_tx_queues(struct port *port, const struct config_node *node);
/* For drivers: notes what the port's link is now; the first time is no change. */
void port_link_note(struct port *port, struct port_link *link, bool up);

extern struct port_driver *port_drivers;
#define PORT_DRIVER_REGISTER(driver) REGISTER(port_drivers, driver)

/* Reads the "ports" array. */
void ports_parse(const struct config_node *array);
unsigned ports_count(void);
struct port *port_at(unsigned index);
struct port *port_find(const char *name);
static inline struct port_queue *port_queue(struct port *port, unsigned index)
{
	return &port->queues[index];
}
/* Fills arguments (NULL-terminated by the caller) and returns how many. */
unsigned ports_eal_arguments(const char **arguments, unsigned max);
bool ports_need_pci(void);
/* Gives the port as many tx queues as it was asked for, and at least as many as `workers` send on
 * it. Returns 0, or -EINVAL after saying why it can't. */
int port_plan_tx_queues(struct port *port, unsigned workers);
int ports_configure(void);
int ports_start(void);
void ports_stop(void);
void ports_tick(void);

/* The driver's functions of the same name; on a port without them ENOTSUP, and the error says so.
 */
int port_flow_validate(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
struct rte_flow *port_flow_create(struct port *port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int port_flow_destroy(struct port *port, struct rte_flow *flow, struct rte_flow_error *error);
int port_flow_flush(struct port *port, struct rte_flow_error *error);
int port_flow_count(struct port *port, struct rte_flow *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error);
int port_flow_batch(struct port *port, struct port_flow_batch *batch, struct rte_flow_error *error);

#endif
