/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tester-tx: sends a sender's frames. A tester loses none: what finds no room is kept
 * and sent first next time, and the tester is late (which makes a trial invalid, not lossy).
 *
 * Frames of latency streams get their time stamp here, the last thing before the port takes them:
 * all of a vector the same, and those that were kept a new one, so that no wait for room in the
 * port's ring counts.
 */
#include "capture/capture_tap.h"
#include "core/signature.h"
#include "tester/tester.h"

#include <rte_cycles.h>
#include <string.h>

static void stamp(struct rte_mbuf **mbufs, uint16_t count)
{
	uint64_t now = rte_rdtsc();

	for (uint16_t i = 0; i < count; i++)
		if (stream_is_stamped(mbufs[i]))
			stamp_write(rte_pktmbuf_mtod(mbufs[i], uint8_t *) +
					    signature_offset(mbufs[i]->data_len),
				now);
}

static uint16_t tester_tx_process(
	__rte_unused struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t count)
{
	struct tester_sender *sender = node_object(node);
	uint16_t sent;

	if (unlikely(sender->nb_stamped > 0))
		stamp((struct rte_mbuf **)objs, count);
	sent = capture_tx_burst(sender->queue, (struct rte_mbuf **)objs, count);
	if (unlikely(sent < count)) {
		memcpy(sender->held, objs + sent, (size_t)(count - sent) * sizeof(void *));
		sender->nb_held = (uint16_t)(count - sent);
	}
	return sent;
}

static struct node_type tester_tx = {
	.name = "tester-tx",
	.process = tester_tx_process,
	.template = true,
};
NODE_REGISTER(tester_tx)
