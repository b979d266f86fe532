/* SPDX-License-Identifier: BSD-3-Clause */
#include "link_watch.h"

#include <rte_cycles.h>

static struct {
	uint64_t start_tsc;
	uint64_t downs_before[PORTS_MAX];
	bool found[PORTS_MAX];
	unsigned nb_down;
	struct link_watch_down down[PORTS_MAX];
} watch;

static bool read_link(const struct port *port, struct port_link *link)
{
	*link = (struct port_link){0};
	if (port->driver->link_read != NULL)
		port->driver->link_read(port, link);
	return link->known;
}

void link_watch_start(void)
{
	struct port_link link;

	watch.start_tsc = rte_rdtsc();
	watch.nb_down = 0;
	for (unsigned i = 0; i < ports_count(); i++) {
		(void)read_link(port_at(i), &link);
		watch.downs_before[i] = link.downs;
		watch.found[i] = false;
	}
}

static void note(const struct port *port, uint64_t down_tsc)
{
	uint64_t clocks = down_tsc > watch.start_tsc ? down_tsc - watch.start_tsc : 0;

	watch.found[port->index] = true;
	watch.down[watch.nb_down++] = (struct link_watch_down){
		port, (uint64_t)((double)clocks * 1e6 / (double)rte_get_tsc_hz())};
}

bool link_watch_look(void)
{
	struct port_link link;

	for (unsigned i = 0; i < ports_count(); i++)
		if (!watch.found[i] && read_link(port_at(i), &link) &&
			(!link.up || link.downs != watch.downs_before[i]))
			note(port_at(i), link.down_tsc);
	return watch.nb_down > 0;
}

unsigned link_watch_count(void)
{
	return watch.nb_down;
}

const struct link_watch_down *link_watch_at(unsigned index)
{
	return index < watch.nb_down ? &watch.down[index] : NULL;
}
