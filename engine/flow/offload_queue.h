/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a port whose rules wait to be made or destroyed: each at most once, so it has room. */
#ifndef LINERATE_OFFLOAD_QUEUE_H
#define LINERATE_OFFLOAD_QUEUE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct offload_queue {
	uint16_t *places;
	unsigned first, count, size;
};

static inline void offload_queue_put(struct offload_queue *queue, unsigned place)
{
	queue->places[(queue->first + queue->count++) % queue->size] = (uint16_t)place;
}

static inline bool offload_queue_take(struct offload_queue *queue, unsigned *place)
{
	if (queue->count == 0)
		return false;
	*place = queue->places[queue->first];
	queue->first = (queue->first + 1) % queue->size;
	queue->count--;
	return true;
}

static inline int offload_queue_create(struct offload_queue *queue, unsigned size)
{
	queue->places = calloc(size, sizeof(*queue->places));
	queue->size = size;
	return queue->places == NULL ? -ENOMEM : 0;
}

#endif
