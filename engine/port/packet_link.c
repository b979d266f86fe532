/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the interface of a packet socket is up: the control thread asks the kernel. */
#include "netlink_link.h"
#include "packet_socket.h"

#include <errno.h>
#include <stdio.h>

/* The control thread comes every 20 ms at most; an interface is looked at every 200. */
#define TICKS_A_LOOK 10

static enum packet_link ask(struct packet_port *packet)
{
	struct netlink_link link;
	int rc = netlink_link_get(packet->control_fd, NULL, packet->index, &link);

	if (rc == -ENODEV)
		return PACKET_LINK_GONE;
	return rc != 0 || link.up ? PACKET_LINK_UP : PACKET_LINK_DOWN;
}

/* Says once when the interface goes down, comes back, or is gone for good: the sockets are bound
 * to this one, and not to another that is given its name later. */
static void look(struct packet_port *packet)
{
	static const char *const messages[] = {
		[PACKET_LINK_UP] = "is up",
		[PACKET_LINK_DOWN] = "is down: what is sent there is lost until it is up",
		[PACKET_LINK_GONE] = ("is gone: what is sent there is lost (\"tx link down\"); "
				      "restart the engine to use a new interface"),
	};
	enum packet_link before = packet->link, now;

	pthread_mutex_lock(&packet->lock);
	now = ask(packet);
	port_link_note(packet->port, &packet->record, now == PACKET_LINK_UP);
	pthread_mutex_unlock(&packet->lock);
	__atomic_store_n(&packet->link, now, __ATOMIC_RELAXED);
	if (now != before)
		fprintf(stderr, "port %s: interface %s %s\n", packet->port->name, packet->device,
			messages[now]);
}

void packet_link_start(struct packet_port *port)
{
	port->record = (struct port_link){.full_duplex = true};
	look(port);
}

void packet_port_tick(struct port *port)
{
	struct packet_port *packet = port->device;

	if (packet->link != PACKET_LINK_GONE && packet->ticks++ % TICKS_A_LOOK == 0)
		look(packet);
}

void packet_port_link_read(const struct port *port, struct port_link *link)
{
	struct packet_port *packet = port->device;

	pthread_mutex_lock(&packet->lock);
	*link = packet->record;
	pthread_mutex_unlock(&packet->lock);
}
