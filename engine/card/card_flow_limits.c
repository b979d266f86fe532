/* SPDX-License-Identifier: BSD-3-Clause */
#include "card_flow_rules.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY_MAX (1u << 20)
#define PROGRAMMING_US_MAX 1000000

/*
 * Intel X710: 512 rules are guaranteed, up to 7,168 fit as far as their hashes do not collide. One
 * takes 11 ms with the driver as shipped, 22 us with it patched (the figures that the published
 * measurements of flow offload give).
 */
static const struct card_flow_limits presets[] = {
	{.capacity = 7168, .guaranteed = 512, .programming_us = 11000, .refuse = "none"},
	{.capacity = 7168, .guaranteed = 512, .programming_us = 22, .refuse = "none"},
};
static const char *const preset_names[] = {"x710", "x710-patched", NULL};
#define PRESET_UNSET 1

static const char *const refusals[] = {"none", "all", "eth", "vlan", "ipv4", "ipv6", "udp", "tcp",
	"sctp", "icmp", "mark", "queue", "rss", "drop", "count", NULL};
static const char *const ignored[] = {
	"none", "mark", "queue", "rss", "drop", "count", CARD_IGNORE_PORTS, NULL};

void card_parse_flow_table(struct card_flow_limits *limits, const struct config_node *node)
{
	const struct card_flow_limits *preset;

	if (!config_object(node, "preset", "capacity", "guaranteed", "programming_us", "refuse",
		    "silent", "ignore"))
		return;
	preset = &presets[config_choice(node, "preset", preset_names, PRESET_UNSET)];
	limits->capacity =
		(uint32_t)config_u64(node, "capacity", preset->capacity, 1, CAPACITY_MAX);
	limits->guaranteed = (uint32_t)config_u64(node, "guaranteed",
		RTE_MIN(preset->guaranteed, limits->capacity), 0, limits->capacity);
	limits->programming_us = (uint32_t)config_u64(
		node, "programming_us", preset->programming_us, 0, PROGRAMMING_US_MAX);
	snprintf(limits->refuse, sizeof(limits->refuse), "%s",
		refusals[config_choice(node, "refuse", refusals, 0)]);
	limits->silent = config_bool(node, "silent", false);
	snprintf(limits->ignore, sizeof(limits->ignore), "%s",
		ignored[config_choice(node, "ignore", ignored, 0)]);
}
