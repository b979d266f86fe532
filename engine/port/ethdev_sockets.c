/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void ethdev_files_read(struct ethdev_files *files)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	memset(files, 0, sizeof(*files));
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		/* The folder itself is about to be closed, and its number to be given anew. */
		if (entry->d_name[0] != '.' && fd < ETHDEV_FILES_MAX && (int)fd != dirfd(folder))
			files->open[fd / 64] |= 1ull << fd % 64;
	}
	closedir(folder);
}

static void find_interface(struct ethdev_sockets *sockets, const char *devargs)
{
	const char *iface = strstr(devargs, "iface=");
	char name[IFNAMSIZ];
	struct netlink_link link;

	sockets->link_fd = -1;
	if (iface == NULL || sockets->count == 0 || sscanf(iface, "iface=%15[^,]", name) != 1)
		return;
	sockets->link_fd = netlink_link_open();
	if (sockets->link_fd >= 0 && netlink_link_get(sockets->link_fd, name, 0, &link) == 0) {
		sockets->index = link.index;
		sockets->if_dropped_before = link.tx_dropped;
		sockets->if_sent_before = link.tx_packets;
		/* Packet sockets keep what the interface refused, and send it anew. */
		sockets->tx_dropped = sockets->sockets[0].domain == AF_XDP;
	} else {
		ethdev_sockets_close(sockets);
	}
}

void ethdev_sockets_find(
	struct ethdev_sockets *sockets, const struct ethdev_files *before, const char *devargs)
{
	struct ethdev_files now;

	pthread_mutex_init(&sockets->lock, NULL);
	ethdev_files_read(&now);
	for (int fd = 0; fd < ETHDEV_FILES_MAX && sockets->count < ETHDEV_SOCKETS_MAX; fd++) {
		uint64_t opened = now.open[fd / 64] & ~before->open[fd / 64];
		socklen_t bytes = sizeof(int);
		int domain;

		if ((opened & 1ull << fd % 64) == 0 ||
			getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) != 0 ||
			(domain != AF_PACKET && domain != AF_XDP))
			continue;
		sockets->sockets[sockets->count].fd = fd;
		sockets->sockets[sockets->count++].domain = domain;
	}
	find_interface(sockets, devargs);
}

/* Told once. */
static uint64_t packet_missed(int fd)
{
	union tpacket_stats_u stats = {0};
	socklen_t bytes = sizeof(stats);

	return getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0
		       ? stats.stats1.tp_drops
		       : 0;
}

/* Told each time, since the socket was made: out of buffers, and with a full rx ring. */
static uint64_t xdp_missed(int fd)
{
	struct xdp_statistics stats = {0};
	socklen_t bytes = sizeof(stats);

	return getsockopt(fd, SOL_XDP, XDP_STATISTICS, &stats, &bytes) == 0
		       ? stats.rx_dropped + stats.rx_ring_full
		       : 0;
}

void ethdev_sockets_drops(struct ethdev_sockets *sockets, struct ethdev_drops *drops)
{
	struct netlink_link link;
	uint64_t xdp = 0;

	*drops = (struct ethdev_drops){0};
	if (sockets->count == 0)
		return;
	pthread_mutex_lock(&sockets->lock);
	for (unsigned i = 0; i < sockets->count; i++)
		if (sockets->sockets[i].domain == AF_PACKET)
			sockets->missed += packet_missed(sockets->sockets[i].fd);
		else
			xdp += xdp_missed(sockets->sockets[i].fd);
	drops->rx_missed = sockets->missed + xdp;
	if (sockets->tx_dropped && sockets->link_fd >= 0 &&
		netlink_link_get(sockets->link_fd, NULL, sockets->index, &link) == 0)
		drops->tx_dropped = link.tx_dropped - sockets->if_dropped_before;
	pthread_mutex_unlock(&sockets->lock);
}

int ethdev_sockets_interface(struct ethdev_sockets *sockets, struct netlink_link *link)
{
	int rc = -ENOENT;

	if (sockets->count == 0)
		return rc;
	pthread_mutex_lock(&sockets->lock);
	if (sockets->link_fd >= 0)
		rc = netlink_link_get(sockets->link_fd, NULL, sockets->index, link);
	pthread_mutex_unlock(&sockets->lock);
	return rc;
}

void ethdev_sockets_close(struct ethdev_sockets *sockets)
{
	if (sockets->link_fd >= 0)
		close(sockets->link_fd);
	sockets->link_fd = -1;
	sockets->count = 0;
}
