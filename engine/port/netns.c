/* SPDX-License-Identifier: BSD-3-Clause */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names are files in /run/netns, where `ip netns add` binds them. */
static void netns_path(const char *netns, char path[NETNS_PATH_MAX])
{
	snprintf(path, NETNS_PATH_MAX, strchr(netns, '/') == NULL ? "/run/netns/%s" : "%s", netns);
}

static int say(const char *port, const char *netns, int error)
{
	const char *hint = "";

	if (error == ENOENT)
		hint = "; `ip netns list` says which there are";
	else if (error == EPERM)
		hint = "; entering a namespace needs CAP_SYS_ADMIN: run as root";
	fprintf(stderr, "port %s: network namespace %s: %s%s\n", port, netns, strerror(error),
		hint);
	return -EINVAL;
}

int netns_enter(struct netns_visit *visit, const char *port, const char *netns)
{
	char path[NETNS_PATH_MAX];
	int there, error = 0;

	visit->home_fd = -1;
	if (netns[0] == '\0')
		return 0;
	netns_path(netns, path);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0)
		return say(port, netns, errno);
	visit->home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (visit->home_fd < 0 || setns(there, CLONE_NEWNET) != 0)
		error = errno;
	close(there);
	if (error == 0)
		return 0;
	if (visit->home_fd >= 0)
		close(visit->home_fd);
	visit->home_fd = -1;
	return say(port, netns, error);
}

void netns_leave(struct netns_visit *visit)
{
	if (visit->home_fd < 0)
		return;
	/* Staying in the wrong namespace would make every later port open the wrong interface. */
	if (setns(visit->home_fd, CLONE_NEWNET) != 0) {
		fprintf(stderr, "cannot return to the own network namespace: %s\n",
			strerror(errno));
		abort();
	}
	close(visit->home_fd);
	visit->home_fd = -1;
}
