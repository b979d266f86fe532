/* SPDX-License-Identifier: BSD-3-Clause */
/* One network interface as the kernel describes it (rtnetlink(7), RTM_GETLINK). */
#ifndef LINERATE_NETLINK_LINK_H
#define LINERATE_NETLINK_LINK_H

#include <rte_ether.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netlink_link {
	int index;
	bool up; /* administratively, and its carrier */
	bool ethernet;
	unsigned mtu;
	struct rte_ether_addr mac;
	uint64_t tx_packets; /* that the interface sent, whoever gave it them */
	uint64_t tx_dropped; /* frames that the interface took and did not send */
};

/* A socket for questions about the interfaces of the namespace in which it is opened; < 0 is
 * -errno. */
int netlink_link_open(void);
/* Asks by name, or by index when `name` is NULL. Returns 0, or -errno: -ENODEV without one. */
int netlink_link_get(int fd, const char *name, int index, struct netlink_link *link);
/* Reads the kernel's answer of `bytes` bytes; 0 or -errno. */
int netlink_link_read(const void *answer, size_t bytes, struct netlink_link *link);

#endif
