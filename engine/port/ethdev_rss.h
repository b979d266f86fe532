/* SPDX-License-Identifier: BSD-3-Clause */
/* RSS of a DPDK port, in the words of port.h. */
#ifndef LINERATE_ETHDEV_RSS_H
#define LINERATE_ETHDEV_RSS_H

#include "port.h"

/* Both return 0 or -errno; -ENOTSUP when the device has no such setting. */
int ethdev_rss_get(uint16_t port_id, struct port_rss *rss);
int ethdev_rss_set(uint16_t port_id, const struct port_rss *rss);

#endif
