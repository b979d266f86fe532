/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of each worker, made from the names of the nodes that it walks. */
#include "node.h"
#include "worker.h"

#include <rte_debug.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct worker *creating;

struct worker *worker_creating(void)
{
	return creating;
}

void worker_add_node(struct worker *worker, const char *node)
{
	worker->patterns = realloc(worker->patterns, (worker->nb_patterns + 1) * sizeof(char *));
	if (worker->patterns == NULL)
		rte_exit(1, "out of memory\n");
	worker->patterns[worker->nb_patterns++] = strdup(node);
}

int workers_create_graphs(int socket)
{
	for (unsigned i = 0; i < workers_count(); i++) {
		struct worker *worker = worker_at(i);
		struct rte_graph_param param = {
			.socket_id = socket,
			.nb_node_patterns = (uint16_t)worker->nb_patterns,
			.node_patterns = worker->patterns,
		};

		if (worker->nb_patterns == 0)
			continue;
		worker->socket = socket;
		creating = worker;
		worker->graph_id = rte_graph_create(worker->name, &param);
		creating = NULL;
		worker->graph = rte_graph_lookup(worker->name);
		if (worker->graph == NULL) {
			fprintf(stderr, "worker %s: its graph cannot be made: %s\n", worker->name,
				strerror(rte_errno));
			return -rte_errno;
		}
	}
	nodes_connect();
	return 0;
}
