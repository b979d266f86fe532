/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer wheel. Each number that is in it lies in one slot, and comes out when the wheel gets
 * there: whoever takes it out looks whether its time has come, and else puts it in again. So a
 * packet has nothing to do with the wheel. Slots are lists of blocks of numbers, not of records,
 * so that the records of a block can be fetched at once.
 */
#ifndef LINERATE_FLOW_TIMER_H
#define LINERATE_FLOW_TIMER_H

#include <rte_common.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_TIMER_TICK_MS 8u
#define FLOW_TIMER_SLOTS 4096u /* what is further away comes out and goes in again */
#define FLOW_BLOCK_ENTRIES 30

struct flow_block {
	uint32_t next; /* 0: none */
	uint32_t count;
	uint32_t entries[FLOW_BLOCK_ENTRIES];
};

struct flow_timer {
	struct flow_block *blocks; /* number 0 is none */
	size_t bytes;
	uint32_t free;    /* list by `next` */
	uint32_t touched; /* blocks that were ever used */
	uint32_t ms;      /* the time of the slot that the wheel is at */
	uint32_t due;     /* blocks taken out of that slot */
	uint32_t slots[FLOW_TIMER_SLOTS];
};

/* With room for numbers below `capacity`, each once. Returns 0 or -ENOMEM. */
int flow_timer_create(struct flow_timer *timer, uint32_t capacity, uint32_t now_ms);
void flow_timer_free(struct flow_timer *timer);

/* It comes out at `at_ms`, in the next slot if that is past, or before. */
void flow_timer_add(struct flow_timer *timer, uint32_t number, uint32_t at_ms);

/*
 * A block of numbers that are out, or NULL when the wheel has reached `now_ms`. It is read before
 * anything else is done with the wheel but flow_timer_add(), and given back.
 */
struct flow_block *flow_timer_take(struct flow_timer *timer, uint32_t now_ms);
void flow_timer_give_back(struct flow_timer *timer, struct flow_block *block);

#endif
