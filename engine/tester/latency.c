/* SPDX-License-Identifier: BSD-3-Clause */
#include "latency.h"

#include "core/worker.h"
#include "core/signature.h"

#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>

static void histogram_restart(struct histogram *histogram, const struct latency_room *room)
{
	for (uint32_t c = histogram->first / LATENCY_CHUNK;
		histogram->first <= histogram->last && c <= histogram->last / LATENCY_CHUNK; c++)
		if (histogram->chunks[c] != 0)
			memset(latency_chunk(room, histogram->chunks[c]), 0,
				LATENCY_CHUNK * sizeof(uint64_t));
	memset(histogram->coarse, 0, sizeof(histogram->coarse));
	histogram->count = histogram->sum = histogram->max = 0;
	histogram->min = UINT64_MAX;
	histogram->first = UINT32_MAX;
	histogram->last = 0;
}

uint32_t latency_room_lacks(const struct latency_room *room)
{
	uint64_t wanted = (uint64_t)__atomic_load_n(&room->taken, __ATOMIC_ACQUIRE) +
			  LATENCY_AHEAD + (uint64_t)room->nb_streams * LATENCY_STREAM_AHEAD;

	wanted = RTE_MIN(wanted, (uint64_t)LATENCY_BLOCKS_MAX * LATENCY_BLOCK);
	return room->nb_streams == 0 || wanted <= room->made ? 0 : (uint32_t)wanted - room->made;
}

void latency_room_add(struct latency_room *room, void *block)
{
	room->blocks[room->made / LATENCY_BLOCK] = block;
	__atomic_store_n(&room->made, room->made + LATENCY_BLOCK, __ATOMIC_RELEASE);
}

void histogram_record_first(struct histogram *histogram, struct latency_room *room, uint32_t index)
{
	uint32_t number = room->taken + 1;

	if (number > __atomic_load_n(&room->made, __ATOMIC_ACQUIRE)) {
		histogram->coarse[index / LATENCY_HALF]++;
		return;
	}
	__atomic_store_n(&room->taken, number, __ATOMIC_RELEASE);
	latency_chunk(room, number)[index % LATENCY_CHUNK]++;
	__atomic_store_n(&histogram->chunks[index / LATENCY_CHUNK], number, __ATOMIC_RELEASE);
}

uint64_t latency_bucket(
	const struct latency *latency, const struct histogram *histogram, uint32_t bucket)
{
	uint32_t chunk =
		__atomic_load_n(&histogram->chunks[bucket / LATENCY_CHUNK], __ATOMIC_ACQUIRE);
	uint64_t count = 0;

	/* No latency is reported as less than it was. */
	if (bucket % LATENCY_HALF == LATENCY_HALF - 1)
		count = histogram->coarse[bucket / LATENCY_HALF];
	if (chunk != 0)
		count += latency_chunk(latency->room, chunk)[bucket % LATENCY_CHUNK];
	return count;
}

uint64_t latency_end_period(struct latency *latency)
{
	uint32_t number = latency->period;
	const struct latency_period *ended = &latency->periods[number % 2];

	__atomic_store_n(&latency->period, number + 1, __ATOMIC_RELEASE);
	return ended->number == number ? ended->max : 0;
}

struct latency *latency_new(struct latency_room *room)
{
	struct latency *latency = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*latency), RTE_CACHE_LINE_SIZE));

	if (latency == NULL)
		return NULL;
	/* Written now, so that no first frame waits for its page. */
	memset(latency, 0, sizeof(*latency));
	latency->room = room;
	latency->period = 1;
	latency->clean.first = latency->disturbed.first = UINT32_MAX;
	latency_restart(latency);
	return latency;
}

void latency_free(struct latency *latency)
{
	free(latency);
}

void latency_restart(struct latency *latency)
{
	histogram_restart(&latency->clean, latency->room);
	histogram_restart(&latency->disturbed, latency->room);
	latency->periods[0] = latency->periods[1] = (struct latency_period){0};
	latency->jitter_sum = latency->jitter_count = latency->damaged = 0;
	latency->last_ns = UINT64_MAX;
	/* A latency is never reported as less than it was. */
	latency->clocks_to_ns =
		(uint64_t)((1000000000 * ((unsigned __int128)1 << 32) + rte_get_tsc_hz() - 1) /
			   RTE_MAX(rte_get_tsc_hz(), 1u));
}

void latency_add_figures(const struct latency *latency, struct latency_figures *sum)
{
	sum->count += latency->clean.count;
	sum->sum += latency->clean.sum;
	sum->min = RTE_MIN(sum->min, latency->clean.min);
	sum->max = RTE_MAX(sum->max, latency->clean.max);
	sum->jitter_sum += latency->jitter_sum;
	sum->jitter_count += latency->jitter_count;
	sum->damaged += latency->damaged;
	sum->disturbed_count += latency->disturbed.count;
	sum->disturbed_max = RTE_MAX(sum->disturbed_max, latency->disturbed.max);
}

void latency_note(
	struct latency *latency, struct rte_mbuf *const *mbufs, unsigned count, uint64_t received)
{
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
		const uint8_t *at = signature_place(frame, mbufs[i]->data_len);
		uint64_t clocks, ns;

		if (unlikely(at == NULL || at < frame + STAMP_BYTES ||
			     !stamp_read(at, received, &clocks))) {
			latency->damaged++;
			continue;
		}
		ns = (uint64_t)((unsigned __int128)clocks * latency->clocks_to_ns >> 32);
		latency_record(latency, ns, worker_away_within(received - clocks, received));
	}
}
