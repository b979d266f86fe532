/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_pause.h"

#include <rte_common.h>
#include <rte_ethdev.h>
#include <stdlib.h>
#include <string.h>

static bool holds_one_of(const char *name, const char *const *words, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcasestr(name, words[i]) != NULL)
			return true;
	return false;
}

/* Drivers name the same counter each in its way: rx_xoff_packets (Intel), rx_pause_frames
 * (Broadcom), mac.rx_pause_mac_ctrl_frames (Netronome). Those of one priority are of 802.1Qbb. */
bool ethdev_pause_is_counter(const char *name)
{
	static const char *const counts[] = {"xon", "xoff", "pause"};
	static const char *const others[] = {
		"prio", "pfc", "duration", "storm", "transition", "bytes", "tx_"};

	return strcasestr(name, "rx_") != NULL && holds_one_of(name, counts, RTE_DIM(counts)) &&
	       !holds_one_of(name, others, RTE_DIM(others));
}

static uint64_t sum(const struct ethdev_pause *pause, uint16_t port_id)
{
	uint64_t values[ETHDEV_PAUSE_COUNTERS], frames = 0;

	if (pause->nb_counters == 0 || rte_eth_xstats_get_by_id(port_id, pause->ids, values,
					       pause->nb_counters) != (int)pause->nb_counters)
		return pause->before;
	for (unsigned i = 0; i < pause->nb_counters; i++)
		frames += values[i];
	return frames;
}

void ethdev_pause_find(struct ethdev_pause *pause, uint16_t port_id)
{
	int count = rte_eth_xstats_get_names(port_id, NULL, 0);
	struct rte_eth_xstat_name *names;

	*pause = (struct ethdev_pause){0};
	names = count <= 0 ? NULL : calloc((size_t)count, sizeof(*names));
	if (names == NULL)
		return;
	if (rte_eth_xstats_get_names(port_id, names, (unsigned)count) != count)
		count = 0;
	for (int i = 0; i < count && pause->nb_counters < ETHDEV_PAUSE_COUNTERS; i++)
		if (ethdev_pause_is_counter(names[i].name))
			pause->ids[pause->nb_counters++] = (uint64_t)i;
	free(names);
	pause->before = sum(pause, port_id);
}

uint64_t ethdev_pause_received(const struct ethdev_pause *pause, uint16_t port_id)
{
	return sum(pause, port_id) - pause->before;
}
