/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Working inside another network namespace for a moment: a socket belongs to the namespace in
 * which it was made for all its life, so a port's sockets are opened there by the control
 * thread, which then returns.
 */
#ifndef LINERATE_NETNS_H
#define LINERATE_NETNS_H

#define NETNS_PATH_MAX 256

/* Where this thread was; < 0 when it never left. */
struct netns_visit {
	int home_fd;
};

/* `netns`: a name as `ip netns` has it, a path, or "" for none, which does nothing. Returns 0,
 * or -EINVAL after one line that says why and begins with `port`. */
int netns_enter(struct netns_visit *visit, const char *port, const char *netns);
/* Returns to where netns_enter() came from. */
void netns_leave(struct netns_visit *visit);

#endif
