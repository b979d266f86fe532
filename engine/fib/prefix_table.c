/* SPDX-License-Identifier: BSD-3-Clause */
#include "prefix_table.h"

#include "core/memory.h"

#include <errno.h>
#include <rte_common.h>

#define SLOTS_MIN 4096u

struct slot {
	uint32_t prefix;
	uint32_t word; /* used, length, next hop; 0 when empty */
};

#define SLOT_USED 0x80000000u
#define SLOT_NEXT_HOP (PREFIX_NEXT_HOPS - 1)

static struct slot *slots;
static unsigned nb_slots, nb_prefixes; /* the slots are a power of 2 */
static unsigned nb_of_length[33];

static uint32_t slot_word(uint8_t length, uint32_t next_hop)
{
	return SLOT_USED | (uint32_t)length << 24 | next_hop;
}

static uint32_t slot_length(const struct slot *slot)
{
	return slot->word >> 24 & 63;
}

/* Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4. */
static unsigned home_of(uint32_t prefix, uint32_t length)
{
	uint64_t key = (uint64_t)prefix << 6 | length;

	return (unsigned)(key * 0x9e3779b97f4a7c15ull >> 32) & (nb_slots - 1);
}

/* Where it is, or the empty slot where it would be. */
static struct slot *slot_of(uint32_t prefix, uint8_t length)
{
	unsigned at = home_of(prefix, length);

	while (slots[at].word != 0 &&
		(slots[at].prefix != prefix || slot_length(&slots[at]) != length))
		at = (at + 1) & (nb_slots - 1);
	return &slots[at];
}

static int slots_make(unsigned count)
{
	slots = memory_map(count * sizeof(*slots));
	nb_slots = count;
	return slots == NULL ? -ENOMEM : 0;
}

static int slots_double(void)
{
	struct slot *old = slots;
	unsigned nb_old = nb_slots;

	if (slots_make(2 * nb_old) != 0) {
		slots = old;
		nb_slots = nb_old;
		return -ENOMEM;
	}
	for (unsigned i = 0; i < nb_old; i++)
		if (old[i].word != 0)
			*slot_of(old[i].prefix, (uint8_t)slot_length(&old[i])) = old[i];
	memory_unmap(old, nb_old * sizeof(*old));
	return 0;
}

int prefix_table_create(unsigned prefixes)
{
	return slots_make(rte_align32pow2(RTE_MAX(SLOTS_MIN, 2 * prefixes)));
}

int prefix_table_set(uint32_t prefix, uint8_t length, uint32_t next_hop)
{
	struct slot *slot = slot_of(prefix, length);

	if (slot->word == 0) {
		if (nb_prefixes >= nb_slots / 4 * 3) {
			if (slots_double() != 0)
				return -ENOMEM;
			slot = slot_of(prefix, length);
		}
		slot->prefix = prefix;
		nb_prefixes++;
		nb_of_length[length]++;
	}
	slot->word = slot_word(length, next_hop);
	return 0;
}

bool prefix_table_find(uint32_t prefix, uint8_t length, uint32_t *next_hop)
{
	const struct slot *slot = slot_of(prefix, length);

	*next_hop = slot->word & SLOT_NEXT_HOP;
	return slot->word != 0;
}

bool prefix_table_parent(
	uint32_t prefix, uint8_t length, uint8_t *parent_length, uint32_t *next_hop)
{
	for (uint8_t shorter = length; shorter-- > 0;) {
		uint32_t mask = shorter == 0 ? 0 : UINT32_MAX << (32 - shorter);

		if (nb_of_length[shorter] == 0 ||
			!prefix_table_find(prefix & mask, shorter, next_hop))
			continue;
		*parent_length = shorter;
		return true;
	}
	return false;
}

/* The entries after it move up, unless that would put them before where they belong. */
void prefix_table_remove(uint32_t prefix, uint8_t length)
{
	unsigned hole = (unsigned)(slot_of(prefix, length) - slots), at = hole;

	nb_prefixes--;
	nb_of_length[length]--;
	while (true) {
		unsigned home;

		at = (at + 1) & (nb_slots - 1);
		if (slots[at].word == 0)
			break;
		home = home_of(slots[at].prefix, slot_length(&slots[at]));
		if (((at - home) & (nb_slots - 1)) < ((at - hole) & (nb_slots - 1)))
			continue;
		slots[hole] = slots[at];
		hole = at;
	}
	slots[hole] = (struct slot){0};
}

unsigned prefix_table_count(void)
{
	return nb_prefixes;
}
