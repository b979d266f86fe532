/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FRAME_OVERHEAD_BYTES (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)
/* The device has no such setting, or no call to read it. */
#define NOT_THERE "none"

static const char *const flow_controls[] = {
	[RTE_ETH_FC_NONE] = "off",
	[RTE_ETH_FC_RX_PAUSE] = "rx",
	[RTE_ETH_FC_TX_PAUSE] = "tx",
	[RTE_ETH_FC_FULL] = "full",
};

void ethdev_settings_parse(struct ethdev_settings *settings, const struct config_node *node)
{
	struct config_node key = config_child(node, "flow_control");
	const char *asked = config_string(node, "flow_control", "off");

	for (unsigned i = 0; i < RTE_DIM(flow_controls); i++) {
		if (strcmp(asked, flow_controls[i]) != 0)
			continue;
		settings->flow_control = (enum rte_eth_fc_mode)i;
		return;
	}
	config_mistake(&key, "expected one of: off, rx, tx, full");
}

static void report_words(struct ethdev_settings *settings, const struct port *port,
	const char *name, const char *asked, const char *actual)
{
	struct port_setting *row = &settings->report.rows[settings->report.count++];

	row->name = name;
	snprintf(row->asked, sizeof(row->asked), "%s", asked);
	snprintf(row->actual, sizeof(row->actual), "%s", actual);
	if (strcmp(actual, NOT_THERE) != 0 && strcmp(actual, asked) != 0)
		fprintf(stderr, "port %s: the device does not take %s %s: it has %s\n", port->name,
			name, asked, actual);
}

static int refuse_length(const struct port *port, unsigned max_mtu)
{
	fprintf(stderr,
		"port %s: the device takes frames of up to %u bytes, not of %u: lower "
		"\"max_frame_bytes\"\n",
		port->name, max_mtu + FRAME_OVERHEAD_BYTES, port->max_frame_bytes);
	return -EINVAL;
}

int ethdev_settings_plan(
	const struct port *port, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	if (port_mtu(port) > RTE_ETHER_MTU && port_mtu(port) > info->max_mtu)
		return refuse_length(port, info->max_mtu);
	conf->rxmode.offloads = 0;
	conf->txmode.offloads = 0;
	return 0;
}

/* Virtual devices have no MTU, and some of the kernel's refuse what their rings cannot hold. */
static int set_mtu(struct ethdev_settings *settings, const struct port *port, uint16_t port_id)
{
	uint16_t mtu = port_mtu(port), current = 0;
	char asked[8], actual[8] = NOT_THERE;
	int rc = 0;

	if (rte_eth_dev_get_mtu(port_id, &current) == 0 && current != mtu)
		rc = rte_eth_dev_set_mtu(port_id, mtu);
	if (rc != 0 && rc != -ENOTSUP && mtu > RTE_ETHER_MTU)
		return refuse_length(port, current);
	snprintf(asked, sizeof(asked), "%u", port->max_frame_bytes);
	if (rc != -ENOTSUP && rte_eth_dev_get_mtu(port_id, &current) == 0)
		snprintf(actual, sizeof(actual), "%u",
			current == mtu ? port->max_frame_bytes
				       : (unsigned)current + FRAME_OVERHEAD_BYTES);
	report_words(settings, port, "max_frame_bytes", asked, actual);
	return 0;
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

/* Receive offloads; `rc` says whether they could be read. */
static const char *any_of(int rc, uint64_t offloads, uint64_t which)
{
	return rc == 0 ? on_off((offloads & which) != 0) : NOT_THERE;
}

/* Some devices turn on by themselves what was not asked for. */
static void set_offloads(
	struct ethdev_settings *settings, const struct port *port, uint16_t port_id)
{
	struct rte_eth_conf conf = {0};
	int vlan, rc;

	if (rte_eth_dev_get_vlan_offload(port_id) > 0)
		(void)rte_eth_dev_set_vlan_offload(port_id, 0);
	vlan = rte_eth_dev_get_vlan_offload(port_id);
	rc = rte_eth_dev_conf_get(port_id, &conf);
	report_words(
		settings, port, "vlan_offload", "off", vlan < 0 ? NOT_THERE : on_off(vlan > 0));
	report_words(settings, port, "rx_checksum_offload", "off",
		any_of(rc, conf.rxmode.offloads, RTE_ETH_RX_OFFLOAD_CHECKSUM));
	report_words(settings, port, "lro", "off",
		any_of(rc, conf.rxmode.offloads, RTE_ETH_RX_OFFLOAD_TCP_LRO));
}

int ethdev_settings_configure(
	struct ethdev_settings *settings, const struct port *port, uint16_t port_id)
{
	int rc;

	settings->report.count = 0;
	rc = set_mtu(settings, port, port_id);
	if (rc == 0)
		set_offloads(settings, port, port_id);
	return rc;
}

/* Every other field stays as the device has it. */
static const char *set_flow_control(enum rte_eth_fc_mode asked, uint16_t port_id)
{
	struct rte_eth_fc_conf conf = {0};

	if (rte_eth_dev_flow_ctrl_get(port_id, &conf) != 0)
		return asked == RTE_ETH_FC_NONE ? NOT_THERE : "no flow control";
	if (conf.mode != asked) {
		conf.mode = asked;
		(void)rte_eth_dev_flow_ctrl_set(port_id, &conf);
		(void)rte_eth_dev_flow_ctrl_get(port_id, &conf);
	}
	return (unsigned)conf.mode < RTE_DIM(flow_controls) ? flow_controls[conf.mode] : NOT_THERE;
}

void ethdev_settings_start(
	struct ethdev_settings *settings, const struct port *port, uint16_t port_id)
{
	int rc = rte_eth_promiscuous_enable(port_id);

	report_words(settings, port, "promiscuous", "on",
		rc == -ENOTSUP ? NOT_THERE : on_off(rte_eth_promiscuous_get(port_id) == 1));
	report_words(settings, port, "flow_control", flow_controls[settings->flow_control],
		set_flow_control(settings->flow_control, port_id));
}
