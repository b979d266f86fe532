/* SPDX-License-Identifier: BSD-3-Clause */
#include "netlink_link.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* An interface with all its attributes takes some 2 KB. */
#define ANSWER_BYTES 16384

struct request {
	struct nlmsghdr header;
	struct ifinfomsg info;
	struct rtattr name;
	char text[IFNAMSIZ];
};

int netlink_link_open(void)
{
	struct timeval patience = {.tv_sec = 1};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void read_attribute(const struct rtattr *attribute, struct netlink_link *link)
{
	const void *data = RTA_DATA(attribute);
	size_t bytes = RTA_PAYLOAD(attribute);
	struct rtnl_link_stats64 stats = {0};
	uint32_t mtu;

	switch (attribute->rta_type) {
	case IFLA_MTU:
		if (bytes >= sizeof(mtu)) {
			memcpy(&mtu, data, sizeof(mtu));
			link->mtu = mtu;
		}
		break;
	case IFLA_ADDRESS:
		if (bytes == sizeof(link->mac))
			memcpy(&link->mac, data, sizeof(link->mac));
		break;
	case IFLA_STATS64:
		memcpy(&stats, data, RTE_MIN(bytes, sizeof(stats)));
		link->tx_packets = stats.tx_packets;
		link->tx_dropped = stats.tx_dropped;
		break;
	default:
		break;
	}
}

int netlink_link_read(const void *answer, size_t bytes, struct netlink_link *link)
{
	const struct nlmsghdr *header = answer;
	const struct ifinfomsg *info;
	const struct rtattr *attribute;
	size_t left;

	if (!NLMSG_OK(header, bytes))
		return -EBADMSG;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(header);

		return header->nlmsg_len < NLMSG_LENGTH(sizeof(*error)) || error->error == 0
			       ? -EBADMSG
			       : error->error;
	}
	if (header->nlmsg_type != RTM_NEWLINK || header->nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
		return -EBADMSG;
	info = NLMSG_DATA(header);
	*link = (struct netlink_link){
		.index = info->ifi_index,
		.up = (info->ifi_flags & IFF_UP) != 0 && (info->ifi_flags & IFF_RUNNING) != 0,
		.ethernet = info->ifi_type == ARPHRD_ETHER,
	};
	attribute = IFLA_RTA(info);
	left = IFLA_PAYLOAD(header);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		read_attribute(attribute, link);
	return 0;
}

int netlink_link_get(int fd, const char *name, int index, struct netlink_link *link)
{
	static _Thread_local uint32_t answer[ANSWER_BYTES / sizeof(uint32_t)];
	static uint32_t sequence;
	struct request request = {
		.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(request.info)),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST,
			.nlmsg_seq = __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED)},
		.info = {.ifi_family = AF_UNSPEC, .ifi_index = name == NULL ? index : 0},
		.name = {.rta_len = RTA_LENGTH(IFNAMSIZ), .rta_type = IFLA_IFNAME},
	};
	ssize_t bytes;

	if (name != NULL) {
		snprintf(request.text, sizeof(request.text), "%s", name);
		request.header.nlmsg_len = sizeof(request);
	}
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		return -errno;
	do {
		bytes = recv(fd, answer, sizeof(answer), 0);
		if (bytes < (ssize_t)sizeof(struct nlmsghdr))
			return bytes < 0 ? -errno : -EBADMSG;
	} while (((struct nlmsghdr *)answer)->nlmsg_seq != request.header.nlmsg_seq);
	return netlink_link_read(answer, (size_t)bytes, link);
}
