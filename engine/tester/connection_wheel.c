/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection_wheel.h"

#include "core/memory.h"

#include <errno.h>
#include <string.h>

int connection_wheel_create(struct connection_wheel *wheel, uint32_t count)
{
	wheel->due = memory_map_whole(count * sizeof(*wheel->due));
	wheel->next = memory_map_whole(count * sizeof(*wheel->next));
	if (wheel->due == NULL || wheel->next == NULL)
		return -ENOMEM;
	connection_wheel_restart(wheel);
	return 0;
}

void connection_wheel_free(struct connection_wheel *wheel, uint32_t count)
{
	if (wheel->due != NULL)
		memory_unmap(wheel->due, count * sizeof(*wheel->due));
	if (wheel->next != NULL)
		memory_unmap(wheel->next, count * sizeof(*wheel->next));
	wheel->due = NULL;
	wheel->next = NULL;
}

void connection_wheel_restart(struct connection_wheel *wheel)
{
	wheel->tick = 0;
	wheel->nb_waiting = 0;
	memset(wheel->near, 0xff, sizeof(wheel->near));
	memset(wheel->far, 0xff, sizeof(wheel->far));
}

/* The first wheel has gone round: what the second has for its next turn comes into it. */
static void refill(struct connection_wheel *wheel)
{
	uint32_t *slot = &wheel->far[(wheel->tick >> WHEEL_BITS) & WHEEL_MASK];
	uint32_t last = *slot, number, next;

	*slot = WHEEL_NONE;
	if (last == WHEEL_NONE)
		return;
	next = wheel->next[last];
	do {
		number = next;
		next = wheel->next[number];
		wheel->nb_waiting--;
		connection_wheel_add(wheel, number, wheel->due[number]);
	} while (number != last);
}

void connection_wheel_advance(struct connection_wheel *wheel)
{
	wheel->tick++;
	if ((wheel->tick & WHEEL_MASK) == 0)
		refill(wheel);
}
