/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drops by the kernel at the sockets of a DPDK device that is one of the kernel's interfaces
 * (net_af_packet, net_af_xdp). Their drivers don't report them, or not all of them; the sockets are
 * this process's, and can be queried.
 */
#ifndef LINERATE_ETHDEV_SOCKETS_H
#define LINERATE_ETHDEV_SOCKETS_H

#include "netlink_link.h"

#include <pthread.h>
#include <stdint.h>

#define ETHDEV_SOCKETS_MAX 64
#define ETHDEV_FILES_MAX 1024

/* Open files of a process; a bit each. */
struct ethdev_files {
	uint64_t open[ETHDEV_FILES_MAX / 64];
};

struct ethdev_sockets {
	pthread_mutex_t lock;
	unsigned count;
	struct {
		int fd, domain;
	} sockets[ETHDEV_SOCKETS_MAX];
	uint64_t missed; /* at packet sockets, whose counters are cleared by reading */
	int link_fd;     /* < 0: the interface is not known */
	int index;
	uint64_t if_dropped_before, if_sent_before;
	bool tx_dropped; /* the interface's drops are lost, and none is sent anew */
};

struct ethdev_drops {
	uint64_t rx_missed;  /* no room in the socket or its ring */
	uint64_t tx_dropped; /* by the interface, of what came by an XDP socket */
};

void ethdev_files_read(struct ethdev_files *files);
/* Keeps the packet and XDP sockets that were opened since `before` was read, and the interface
 * that devargs name by "iface=", in the namespace where this thread is. */
void ethdev_sockets_find(
	struct ethdev_sockets *sockets, const struct ethdev_files *before, const char *devargs);
/* Reads the kernel's counters of the interface. Returns 0; -ENOENT when none is known, else another
 * -errno: it is gone. */
int ethdev_sockets_interface(struct ethdev_sockets *sockets, struct netlink_link *link);
/* Since then. */
void ethdev_sockets_drops(struct ethdev_sockets *sockets, struct ethdev_drops *drops);
void ethdev_sockets_close(struct ethdev_sockets *sockets);

#endif
