/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON of templates of connections, and the frames that they make. */
#include "port/port.h"
#include "tester/connections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ports that configurations name. */
static void make_ports(void)
{
	static const char text[] =
		"{\"ports\": [{\"name\": \"t0\", \"driver\": \"replay\", \"mac\": "
		"\"50:7c:6f:20:30:70\", "
		"\"frames\": [{\"layers\": [{\"ethernet\": {}}]}]}, "
		"{\"name\": \"t1\", \"driver\": \"replay\", \"mac\": \"50:7c:6f:20:30:71\", "
		"\"frames\": [{\"layers\": [{\"ethernet\": {}}]}]}]}";
	struct config config;
	struct config_node root, ports;

	if (config_open_text(&config, "ports", text) != 0)
		abort();
	root = config_root(&config);
	ports = config_child(&root, "ports");
	ports_parse(&ports);
	config_close(&config);
	if (ports_count() != 2)
		abort();
	for (unsigned i = 0; i < 2; i++)
		port_at(i)->tester = true;
}

static void make_frames(const struct connections *connections)
{
	static uint8_t _Alignas(64) room[CONNECTION_FRAME_MAX + CONNECTION_FRAME_BLOCK];
	struct connection_words words;
	struct rte_mbuf mbuf;

	connection_words_set(&words, 0x01000010, 0x01000030, 0x0004);
	memset(&mbuf, 0, sizeof(mbuf));
	mbuf.buf_addr = room;
	for (uint32_t i = 0; i < connections->nb_packets; i++)
		connection_fill(&connections->packets[i], &words, &mbuf);
}

static void draw_addresses(const struct connections *connections)
{
	for (unsigned i = 0; i < connections->nb_templates; i++)
		for (unsigned side = 0; side < CONNECTION_SIDES; side++) {
			struct connection_pool *pool = connections->templates[i].pools[side];
			uint32_t address = connection_pool_address(pool);

			if (address < pool->addresses.min || address > pool->addresses.max)
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct config config;
	char *text = strndup((const char *)data, size);
	FILE *saved = stderr;

	if (nowhere == NULL) {
		make_ports();
		nowhere = fopen("/dev/null", "we");
	}
	/* Mistakes are printed; thousands a second are of no use. */
	stderr = nowhere;
	if (text != NULL && config_open_text(&config, "fuzz", text) == 0) {
		struct config_node root = config_root(&config);
		struct connections *connections = connections_parse(&root);

		if (connections != NULL) {
			make_frames(connections);
			draw_addresses(connections);
			connections_free(connections);
		}
		config_close(&config);
	}
	free(text);
	stderr = saved;
	return 0;
}
