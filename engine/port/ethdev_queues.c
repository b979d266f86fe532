/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_queues.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RSS_DEFAULT (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)

/* Descriptors a queue where the file does not say, by the beginning of the device's name; the last
 * is all others'. */
static const struct rings {
	const char *device;
	uint16_t rx, tx;
} defaults[] = {
	{"net_af_xdp", 2048, 2048}, /* rings of its sockets have that size whatever is asked for */
	{"", 1024, 1024},
};

static const struct rss_field {
	const char *name;
	uint64_t bits;
} rss_fields[] = {
	{"ipv4", RTE_ETH_RSS_IPV4},
	{"ipv4-frag", RTE_ETH_RSS_FRAG_IPV4},
	{"ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP},
	{"ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP},
	{"ipv4-sctp", RTE_ETH_RSS_NONFRAG_IPV4_SCTP},
	{"ipv4-other", RTE_ETH_RSS_NONFRAG_IPV4_OTHER},
	{"ipv6", RTE_ETH_RSS_IPV6},
	{"ipv6-frag", RTE_ETH_RSS_FRAG_IPV6},
	{"ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP},
	{"ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP},
	{"ipv6-sctp", RTE_ETH_RSS_NONFRAG_IPV6_SCTP},
	{"ipv6-other", RTE_ETH_RSS_NONFRAG_IPV6_OTHER},
};

static void write_fields(uint64_t bits, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < RTE_DIM(rss_fields) && used < size; i++)
		if ((bits & rss_fields[i].bits) != 0)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
				used == 0 ? "" : ", ", rss_fields[i].name);
}

static uint64_t parse_field(const struct config_node *item)
{
	const char *name = json_string_value(item->json);
	char list[PORT_RSS_TEXT_MAX];

	for (unsigned i = 0; name != NULL && i < RTE_DIM(rss_fields); i++)
		if (strcmp(rss_fields[i].name, name) == 0)
			return rss_fields[i].bits;
	write_fields(UINT64_MAX, list, sizeof(list));
	config_mistake(item, "expected one of: %s", list);
	return 0;
}

static uint64_t parse_rss(const struct config_node *node, uint16_t rx_queues)
{
	struct config_node key = config_child(node, "rss");
	uint64_t bits = 0;

	if (key.json == NULL)
		return 0;
	for (size_t i = 0; i < config_items(&key); i++) {
		struct config_node item = config_item(&key, i);

		bits |= parse_field(&item);
	}
	if (rx_queues == 1)
		config_mistake(&key, "there is one rx queue: expected \"rx_queues\" of 2 or more");
	else if (json_is_array(key.json) && json_array_size(key.json) == 0)
		config_mistake(&key, "expected one field or more, as [\"ipv4\", \"ipv4-udp\"]");
	return bits;
}

void ethdev_queues_parse(struct ethdev_queues *queues, struct port *port, const char *device,
	const struct config_node *node)
{
	const struct rings *rings = defaults;

	while (strncmp(device, rings->device, strlen(rings->device)) != 0)
		rings++;
	queues->rx_queues = (uint16_t)config_u64(node, "rx_queues", 1, 1, PORT_QUEUES_MAX);
	port_parse_tx_queues(port, node);
	queues->rx_ring = (uint16_t)config_u64(node, "rx_ring", 0, 1, 32768);
	queues->tx_ring = (uint16_t)config_u64(node, "tx_ring", 0, 1, 32768);
	queues->rss = parse_rss(node, queues->rx_queues);
	port->nb_rx_queues = queues->rx_queues;
	port->rx_ring = queues->rx_ring == 0 ? rings->rx : queues->rx_ring;
	port->tx_ring = queues->tx_ring == 0 ? rings->tx : queues->tx_ring;
}

static int check_counts(const struct port *port, const struct rte_eth_dev_info *info)
{
	if (port->nb_rx_queues <= info->max_rx_queues && port->nb_tx_queues <= info->max_tx_queues)
		return 0;
	fprintf(stderr,
		"port %s: %s has %u rx and %u tx queues, %u (rx_queues) and %u (%s) are needed: "
		"give it more by its devargs, or have fewer\n",
		port->name, info->driver_name, info->max_rx_queues, info->max_tx_queues,
		port->nb_rx_queues, port->nb_tx_queues,
		port->asked_tx_queues == 0 ? "one a worker" : "tx_queues");
	return -EINVAL;
}

static int check_ring(const struct port *port, const char *key, uint16_t asked,
	const struct rte_eth_desc_lim *limits, const char *driver)
{
	uint16_t most = limits->nb_max == 0 ? UINT16_MAX : limits->nb_max;

	if (asked == 0 || (asked >= limits->nb_min && asked <= most))
		return 0;
	fprintf(stderr, "port %s: %s: %s takes %u to %u descriptors, not %u\n", port->name, key,
		driver, limits->nb_min, most, asked);
	return -EINVAL;
}

static int configure_rss(const struct ethdev_queues *queues, const struct port *port,
	const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	uint64_t refused = queues->rss & ~info->flow_type_rss_offloads;
	char takes[PORT_RSS_TEXT_MAX], not [PORT_RSS_TEXT_MAX];

	if (refused != 0) {
		write_fields(info->flow_type_rss_offloads, takes, sizeof(takes));
		write_fields(refused, not, sizeof(not ));
		fprintf(stderr, "port %s: rss: %s takes %s, not %s\n", port->name,
			info->driver_name, takes[0] == '\0' ? "no fields" : takes, not );
		return -EINVAL;
	}
	if (port->nb_rx_queues > 1) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf =
			queues->rss != 0 ? queues->rss : RSS_DEFAULT & info->flow_type_rss_offloads;
	}
	return 0;
}

int ethdev_queues_configure(const struct ethdev_queues *queues, struct port *port, uint16_t port_id,
	const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	uint16_t rx_ring = (uint16_t)port->rx_ring, tx_ring = (uint16_t)port->tx_ring;
	int rc = check_counts(port, info);

	if (rc == 0)
		rc = check_ring(
			port, "rx_ring", queues->rx_ring, &info->rx_desc_lim, info->driver_name);
	if (rc == 0)
		rc = check_ring(
			port, "tx_ring", queues->tx_ring, &info->tx_desc_lim, info->driver_name);
	if (rc == 0)
		rc = configure_rss(queues, port, info, conf);
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port_id, &rx_ring, &tx_ring);
	port->rx_ring = rx_ring;
	port->tx_ring = tx_ring;
	return rc;
}

void ethdev_queues_taken(struct port *port, uint16_t port_id, const struct rte_eth_conf *conf)
{
	struct rte_eth_rss_conf taken = {0};
	uint64_t bits = conf->rx_adv_conf.rss_conf.rss_hf;

	if (port->nb_rx_queues > 1 && rte_eth_dev_rss_hash_conf_get(port_id, &taken) == 0)
		bits = taken.rss_hf;
	write_fields(bits, port->rss, sizeof(port->rss));
}
