/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lose: drops each frame with the same probability, lets the others go on. One clone a port.
 *
 * The number of frames that pass until the next loss is drawn, which is distributed geometrically,
 * not each frame's fate. So vectors without a loss, nearly all where the probability is small, move
 * on as a whole and cost a subtraction.
 */
#include "lose.h"

#include "core/vector.h"
#include "core/worker.h"

#include <math.h>
#include <stdio.h>

enum next {
	NEXT_DROP,
	NEXT_ON,
};

enum reason {
	AT_RANDOM,
};

/* One worker's, of one port. */
struct loser {
	uint64_t random;
	uint64_t passes; /* frames until the next loss */
};

static bool present;
static double probability;

/* SplitMix64 (Steele, Lea, Flood 2014): any start will do, near ones too. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void draw(struct loser *loser)
{
	/* In (0, 1]: of 0 there is no logarithm. */
	double uniform = (double)((next_random(&loser->random) >> 11) + 1) * 0x1p-53;
	double passes = floor(log(uniform) / log1p(-probability));

	loser->passes = passes < 0x1p63 ? (uint64_t)passes : UINT64_MAX;
}

static bool lose_vector(struct rte_node *node, __rte_unused struct rte_mbuf **mbufs,
	rte_edge_t *nexts, uint16_t count)
{
	struct loser *loser = node_private(node);

	for (uint16_t i = 0; i < count; i++) {
		nexts[i] = NEXT_ON;
		if (likely(loser->passes > 0)) {
			loser->passes--;
			continue;
		}
		nexts[i] = NEXT_DROP;
		node_state(node)->drops[AT_RANDOM]++;
		draw(loser);
	}
	return false;
}

static uint16_t lose_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct loser *loser = node_private(node);

	if (loser->passes < count)
		return vector_walk_parted(graph, node, objs, count, lose_vector);
	loser->passes -= count;
	rte_node_next_stream_move(graph, node, NEXT_ON);
	return count;
}

/* Every engine loses the same frames of the same traffic; ports and workers lose others. */
static int lose_init(struct node_state *state, struct rte_node *node)
{
	struct loser *loser = (struct loser *)state->private_data;

	loser->random = (uint64_t)node->id << 32 | state->worker->forwarder_index;
	draw(loser);
	return 0;
}

static struct node_type lose = {
	.name = "lose",
	.process = lose_process,
	.init = lose_init,
	.nexts = {[NEXT_DROP] = "drop", [NEXT_ON] = "drop"},
	.reasons = {[AT_RANDOM] = "lost at random"},
	.private_bytes = sizeof(struct loser),
	.template = true,
};
NODE_REGISTER(lose)

void lose_parse(const struct config_node *node)
{
	if (!config_object(node, "probability"))
		return;
	probability = config_number(node, "probability", 0, 0, 1);
	present = probability > 0;
}

bool lose_present(void)
{
	return present;
}

int lose_add_port(const struct port *port, char entry[RTE_NODE_NAMESIZE])
{
	return node_clone_to("lose", port->name, NULL, entry, entry);
}
