/* SPDX-License-Identifier: BSD-3-Clause */
#include "latency.h"

#include "core/worker.h"
#include "signature.h"

#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>

static void histogram_restart(struct histogram *histogram)
{
	if (histogram->first <= histogram->last)
		memset(&histogram->counts[histogram->first], 0,
			(histogram->last - histogram->first + 1) * sizeof(histogram->counts[0]));
	histogram->count = histogram->sum = histogram->max = 0;
	histogram->min = UINT64_MAX;
	histogram->first = UINT32_MAX;
	histogram->last = 0;
}

struct latency *latency_new(void)
{
	struct latency *latency = malloc(sizeof(*latency));

	if (latency == NULL)
		return NULL;
	/* Written now, so that no first frame of a bucket waits for its page. */
	memset(latency, 0, sizeof(*latency));
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
	histogram_restart(&latency->clean);
	histogram_restart(&latency->disturbed);
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
