/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_link.h"

#include "netlink_link.h"

#include <errno.h>
#include <rte_cycles.h>
#include <string.h>

#define LOOKS_A_SECOND 20

/* Drivers of the kernel's interfaces say "up" whatever the interface does: it is asked itself. */
static bool look_at(const struct ethdev_link *link, struct rte_eth_link *now)
{
	struct netlink_link interface;
	int rc;

	if (rte_eth_link_get_nowait(link->port_id, now) != 0)
		return false;
	if (link->sockets == NULL)
		return true;
	rc = ethdev_sockets_interface(link->sockets, &interface);
	if (rc == -ENOENT)
		return true;
	now->link_status = rc == 0 && interface.up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	return true;
}

static void note(struct ethdev_link *link, const struct rte_eth_link *now)
{
	struct port_link *record = &link->record;
	bool up = now->link_status == RTE_ETH_LINK_UP;

	port_link_note(link->port, record, up);
	record->full_duplex = now->link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	record->speed_bps = up && now->link_speed != RTE_ETH_SPEED_NUM_UNKNOWN
				    ? (uint64_t)now->link_speed * 1000000
				    : 0;
}

void ethdev_link_look(struct ethdev_link *link)
{
	struct rte_eth_link now;

	pthread_mutex_lock(&link->lock);
	link->looked_tsc = rte_rdtsc();
	if (look_at(link, &now))
		note(link, &now);
	pthread_mutex_unlock(&link->lock);
}

void ethdev_link_tick(struct ethdev_link *link)
{
	if (link->started && rte_rdtsc() - link->looked_tsc >= rte_get_tsc_hz() / LOOKS_A_SECOND)
		ethdev_link_look(link);
}

void ethdev_link_start(struct ethdev_link *link, struct port *port, uint16_t port_id,
	struct ethdev_sockets *sockets)
{
	memset(&link->record, 0, sizeof(link->record));
	pthread_mutex_init(&link->lock, NULL);
	link->port = port;
	link->port_id = port_id;
	link->sockets = sockets;
	ethdev_link_look(link);
	link->started = true;
}

void ethdev_link_stop(struct ethdev_link *link)
{
	link->started = false;
}

void ethdev_link_read(struct ethdev_link *link, struct port_link *record)
{
	if (!link->started) {
		*record = (struct port_link){0};
		return;
	}
	pthread_mutex_lock(&link->lock);
	*record = link->record;
	pthread_mutex_unlock(&link->lock);
}
