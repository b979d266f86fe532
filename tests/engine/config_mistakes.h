/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes reported for a piece of configuration. */
#ifndef LINERATE_CONFIG_MISTAKES_H
#define LINERATE_CONFIG_MISTAKES_H

#include "core/config.h"

/* Number of lines that `parse` reports for the text; 1000 when it is no JSON. */
static inline unsigned config_mistakes_in(
	const char *text, void (*parse)(const struct config_node *node))
{
	struct config config;
	struct config_node root;
	unsigned count;

	if (config_open_text(&config, "test.json", text) != 0)
		return 1000;
	root = config_root(&config);
	parse(&root);
	count = config.mistakes;
	config_close(&config);
	return count;
}

#endif
