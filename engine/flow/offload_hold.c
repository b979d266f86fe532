/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload_hold.h"

#include <errno.h>
#include <rte_ring_elem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RETRY_US 100

static struct {
	struct flow_table *const *tables;
	unsigned nb_tables;
	bool stopping;
	uint32_t *slots; /* by the record's number: its hold's, plus 1 */
	size_t slots_bytes;
	struct offload_hold *holds;
	uint32_t *free;
	unsigned nb_free;
} all;

int offload_holds_create(
	struct flow_table *const *tables, unsigned nb_tables, uint32_t records, unsigned holds)
{
	all.tables = tables;
	all.nb_tables = nb_tables;
	all.slots_bytes = records * sizeof(*all.slots);
	all.slots = mmap(NULL, all.slots_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	all.holds = calloc(holds, sizeof(*all.holds));
	all.free = calloc(holds, sizeof(*all.free));
	if (all.slots == MAP_FAILED || all.holds == NULL || all.free == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < holds; i++)
		all.free[all.nb_free++] = holds - 1 - i;
	return 0;
}

void offload_holds_stop(void)
{
	__atomic_store_n(&all.stopping, true, __ATOMIC_RELAXED);
}

void offload_holds_destroy(void)
{
	(void)munmap(all.slots, all.slots_bytes);
	free(all.holds);
	free(all.free);
	memset(&all, 0, sizeof(all));
}

unsigned offload_worker(uint32_t mark)
{
	for (unsigned i = 1; i < all.nb_tables; i++)
		if (FLOW_MARK_INDEX(mark) < all.tables[i]->base)
			return i - 1;
	return all.nb_tables - 1;
}

struct flow_table *offload_table(uint32_t mark)
{
	return all.tables[offload_worker(mark)];
}

/* The ring is larger than what can be under way, but a worker may sleep for some milliseconds. */
static void order(uint32_t mark, enum flow_order_what what, uint8_t rules)
{
	struct flow_order one = {.mark = mark, .what = (uint16_t)what, .rules = rules};
	struct rte_ring *ring = offload_table(mark)->rings.orders;

	while (rte_ring_sp_enqueue_elem(ring, &one, sizeof(one)) != 0) {
		if (__atomic_load_n(&all.stopping, __ATOMIC_RELAXED))
			return;
		(void)usleep(RETRY_US);
	}
}

struct offload_hold *offload_hold_find(uint32_t mark)
{
	uint32_t slot = all.slots[FLOW_MARK_INDEX(mark)];
	struct offload_hold *hold = slot == 0 ? NULL : &all.holds[slot - 1];

	return hold != NULL && FLOW_MARK_GENERATION(hold->mark) == FLOW_MARK_GENERATION(mark)
		       ? hold
		       : NULL;
}

struct offload_hold *offload_hold_take(uint32_t mark)
{
	struct offload_hold *hold = offload_hold_find(mark);
	uint32_t slot;

	if (hold != NULL) {
		hold->places++;
		return hold;
	}
	/* A mark of another generation: its record is not free, so this one is no longer valid. */
	if (all.slots[FLOW_MARK_INDEX(mark)] != 0 || all.nb_free == 0)
		return NULL;
	slot = all.free[--all.nb_free];
	all.slots[FLOW_MARK_INDEX(mark)] = slot + 1;
	hold = &all.holds[slot];
	*hold = (struct offload_hold){.mark = mark, .state = OFFLOAD_ASKED, .places = 1};
	order(mark, FLOW_ORDER_HOLD, 0);
	return hold;
}

static void forget(struct offload_hold *hold)
{
	all.slots[FLOW_MARK_INDEX(hold->mark)] = 0;
	all.free[all.nb_free++] = (uint32_t)(hold - all.holds);
}

void offload_hold_drop(struct offload_hold *hold)
{
	if (--hold->places > 0)
		return;
	order(hold->mark, FLOW_ORDER_RELEASE, 0);
	forget(hold);
}

void offload_hold_refused(struct offload_hold *hold)
{
	if (--hold->places == 0)
		forget(hold);
}

void offload_hold_rule(struct offload_hold *hold, uint32_t mark, bool stands)
{
	uint8_t bit = FLOW_RULE(FLOW_MARK_DIRECTION(mark));

	hold->rules = stands ? hold->rules | bit : hold->rules & (uint8_t)~bit;
	order(mark, FLOW_ORDER_RULES, hold->rules);
}
