/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hierarchical timing wheel (Varghese and Lauck, 1987): who waits for a tick stands in the queue
 * of its slot. A tick is a few microseconds. The first wheel has the ticks that come next, the
 * second as many turns of the first; what is farther off goes round the second once more. Each
 * queue is a ring through `next`, which has a word for each one that may wait, and is read much
 * closer together than what waits. Nobody waits twice. No allocation, no lock: one worker's.
 */
#ifndef LINERATE_CONNECTION_WHEEL_H
#define LINERATE_CONNECTION_WHEEL_H

#include <rte_branch_prediction.h>
#include <stdint.h>

#define WHEEL_BITS 12
#define WHEEL_SLOTS (1u << WHEEL_BITS)
#define WHEEL_MASK (WHEEL_SLOTS - 1)
#define WHEEL_NONE UINT32_MAX

struct connection_wheel {
	uint64_t tick; /* whose queue is being served */
	uint64_t nb_waiting;
	uint64_t *due;  /* of each one that waits: its tick */
	uint32_t *next; /* in its queue */
	/* The last of each queue, which points to the first. */
	uint32_t near[WHEEL_SLOTS], far[WHEEL_SLOTS];
};

/* For `count` who may wait, numbered from 0. Returns 0 or -ENOMEM. */
int connection_wheel_create(struct connection_wheel *wheel, uint32_t count);
void connection_wheel_free(struct connection_wheel *wheel, uint32_t count);
/* Nobody waits; the wheel stands at tick 0. */
void connection_wheel_restart(struct connection_wheel *wheel);
/* Moves to the next tick. */
void connection_wheel_advance(struct connection_wheel *wheel);

static inline void connection_wheel_append(
	struct connection_wheel *wheel, uint32_t *last, uint32_t number)
{
	if (*last == WHEEL_NONE) {
		wheel->next[number] = number;
	} else {
		wheel->next[number] = wheel->next[*last];
		wheel->next[*last] = number;
	}
	*last = number;
}

/* `number` waits for a tick; for one that is over, as for the present one. */
static inline void connection_wheel_add(
	struct connection_wheel *wheel, uint32_t number, uint64_t tick)
{
	uint64_t ahead;

	if (tick < wheel->tick)
		tick = wheel->tick;
	wheel->due[number] = tick;
	wheel->nb_waiting++;
	ahead = (tick >> WHEEL_BITS) - (wheel->tick >> WHEEL_BITS);
	if (likely(ahead == 0))
		connection_wheel_append(wheel, &wheel->near[tick & WHEEL_MASK], number);
	else if (ahead < WHEEL_SLOTS)
		connection_wheel_append(
			wheel, &wheel->far[(tick >> WHEEL_BITS) & WHEEL_MASK], number);
	else
		/* It is looked at again when the second wheel has gone round. */
		connection_wheel_append(wheel,
			&wheel->far[((wheel->tick >> WHEEL_BITS) + WHEEL_MASK) & WHEEL_MASK],
			number);
}

/* The next one that waits for the present tick, in the order in which they came; or
 * WHEEL_NONE. */
static inline uint32_t connection_wheel_take(struct connection_wheel *wheel)
{
	uint32_t *last = &wheel->near[wheel->tick & WHEEL_MASK], first;

	if (*last == WHEEL_NONE)
		return WHEEL_NONE;
	first = wheel->next[*last];
	if (first == *last)
		*last = WHEEL_NONE;
	else
		wheel->next[*last] = wheel->next[first];
	wheel->nb_waiting--;
	return first;
}

#endif
