/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of an ethdev port's device: longest frame, promiscuous mode, flow control, offloads.
 * Each is set, read back, and kept for telemetry as requested and as actual.
 */
#ifndef LINERATE_ETHDEV_SETTINGS_H
#define LINERATE_ETHDEV_SETTINGS_H

#include "port.h"

#include <rte_ethdev.h>

struct ethdev_settings {
	enum rte_eth_fc_mode flow_control; /* asked */
	struct port_settings report;
};

/* Keys of a port's configuration that are read here. */
#define ETHDEV_SETTINGS_KEYS "flow_control"

void ethdev_settings_parse(struct ethdev_settings *settings, const struct config_node *node);

/* Before the device is configured: longest frame and offloads go into *conf. Returns 0, or
 * -EINVAL after saying that the device takes no frames as long as port->max_frame_bytes. */
int ethdev_settings_plan(
	const struct port *port, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf);

/* With the device configured: MTU, VLAN offloads. Returns as above. */
int ethdev_settings_configure(
	struct ethdev_settings *settings, const struct port *port, uint16_t port_id);

/* With the device started: promiscuous mode, flow control. What the device does not take is
 * logged in a line. */
void ethdev_settings_start(
	struct ethdev_settings *settings, const struct port *port, uint16_t port_id);

#endif
