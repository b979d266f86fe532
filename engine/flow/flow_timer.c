/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_timer.h"

#include "core/memory.h"

#include <errno.h>
#include <rte_branch_prediction.h>
#include <rte_prefetch.h>
#include <string.h>

/* Slots that one call looks at: a clock that has leapt is caught up with bit by bit. */
#define SLOTS_A_CALL 1024

int flow_timer_create(struct flow_timer *timer, uint32_t capacity, uint32_t now_ms)
{
	/* A slot has at most one block that is not full; one more is being read. */
	uint32_t blocks = capacity / FLOW_BLOCK_ENTRIES + FLOW_TIMER_SLOTS + 3;

	memset(timer, 0, sizeof(*timer));
	timer->bytes = blocks * sizeof(*timer->blocks);
	timer->blocks = memory_map(timer->bytes);
	timer->touched = 1;
	timer->ms = now_ms / FLOW_TIMER_TICK_MS * FLOW_TIMER_TICK_MS;
	return timer->blocks == NULL ? -ENOMEM : 0;
}

void flow_timer_free(struct flow_timer *timer)
{
	if (timer->blocks != NULL)
		memory_unmap(timer->blocks, timer->bytes);
	timer->blocks = NULL;
}

static uint32_t block_new(struct flow_timer *timer, uint32_t next)
{
	uint32_t number = timer->free;
	struct flow_block *block;

	if (number != 0)
		timer->free = timer->blocks[number].next;
	else
		number = timer->touched++;
	block = &timer->blocks[number];
	block->next = next;
	block->count = 0;
	return number;
}

void flow_timer_add(struct flow_timer *timer, uint32_t number, uint32_t at_ms)
{
	int32_t away_ms = (int32_t)(at_ms - timer->ms);
	uint32_t ticks =
		away_ms <= 0 ? 1
			     : ((uint32_t)away_ms + FLOW_TIMER_TICK_MS - 1) / FLOW_TIMER_TICK_MS;
	uint32_t tick = timer->ms / FLOW_TIMER_TICK_MS + RTE_MIN(ticks, FLOW_TIMER_SLOTS - 1);
	uint32_t *slot = &timer->slots[tick % FLOW_TIMER_SLOTS];
	struct flow_block *block = &timer->blocks[*slot];

	if (unlikely(*slot == 0 || block->count == FLOW_BLOCK_ENTRIES)) {
		*slot = block_new(timer, *slot);
		block = &timer->blocks[*slot];
	}
	block->entries[block->count++] = number;
}

struct flow_block *flow_timer_take(struct flow_timer *timer, uint32_t now_ms)
{
	struct flow_block *block;

	for (unsigned i = 0; timer->due == 0 && i < SLOTS_A_CALL; i++) {
		uint32_t *slot;

		if ((int32_t)(now_ms - timer->ms) < (int32_t)FLOW_TIMER_TICK_MS)
			return NULL;
		timer->ms += FLOW_TIMER_TICK_MS;
		slot = &timer->slots[timer->ms / FLOW_TIMER_TICK_MS % FLOW_TIMER_SLOTS];
		timer->due = *slot;
		*slot = 0;
	}
	if (timer->due == 0)
		return NULL;
	block = &timer->blocks[timer->due];
	timer->due = block->next;
	if (timer->due != 0) {
		rte_prefetch0(&timer->blocks[timer->due]);
		rte_prefetch0(&timer->blocks[timer->due].entries[14]);
	}
	return block;
}

void flow_timer_give_back(struct flow_timer *timer, struct flow_block *block)
{
	block->next = timer->free;
	timer->free = (uint32_t)(block - timer->blocks);
}
