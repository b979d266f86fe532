/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stations that modes address frames to, one for each of the forwarder's ports: testpmd's
 * eth-peer, by default 02:00:00:00:00:N for port N.
 */
#ifndef LINERATE_PEERS_H
#define LINERATE_PEERS_H

#include "core/config.h"
#include "port/port.h"

#include <rte_ether.h>

/* Reads "peers", an optional array of MAC addresses, of a mode's object. */
void peers_parse(const struct config_node *node);
/* Parses the object of a mode that has only "peers". */
void peers_parse_only(const struct config_node *node);
/* The first 12 bytes of a frame that leaves by the port: to its peer, from the port. */
void peers_addresses(const struct port *out, uint8_t addresses[2 * RTE_ETHER_ADDR_LEN]);
/* The same, the peer being the default whatever is configured. */
void peers_default_addresses(const struct port *out, uint8_t addresses[2 * RTE_ETHER_ADDR_LEN]);

#endif
