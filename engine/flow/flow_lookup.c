/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk of a vector through the table: all packets are parsed and hashed and their buckets
 * fetched, then all signatures compared and the records fetched, then all records updated. What
 * is not plain IPv4, or not found at once, is looked at one by one in the last step.
 */
#include "flow_place.h"
#include "flow_plain.h"

#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_prefetch.h>
#include <rte_vect.h>

/* Distance in packets at which mbufs and headers are prefetched. */
#define AHEAD 4

#define TCP_FLAGS_AFTER 13
#define IP6_HEADER_BYTES 40
#define IP6_NEXT_HEADER 6

/* A packet on its way through the steps. */
struct way {
	struct flow_words words; /* second 0: looked at one by one, by its frame */
	uint32_t number;         /* of the bucket, then of the record */
	uint16_t signature;
	uint8_t version;
	uint8_t kind; /* enum flow_kind */
	struct flow_addition addition;
};

/* Entries of the bucket whose signature is the packet's: two bits an entry. */
typedef unsigned (*match_t)(const struct flow_bucket *bucket, uint16_t signature);

static __rte_always_inline unsigned match_scalar(
	const struct flow_bucket *bucket, uint16_t signature)
{
	unsigned found = 0;

	for (unsigned i = 0; i < FLOW_BUCKET_ENTRIES; i++)
		found |= (bucket->signatures[i] == signature ? 3u : 0u) << (2 * i);
	return found;
}

#ifdef __SSE2__
static __rte_always_inline unsigned match_sse2(const struct flow_bucket *bucket, uint16_t signature)
{
	__m128i all = _mm_load_si128((const __m128i *)bucket->signatures);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi16(all, _mm_set1_epi16((short)signature)));
}
#endif

static __rte_always_inline const uint8_t *frame_of(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_mtod(mbuf, const uint8_t *);
}

static __rte_noinline void parse_other(const struct rte_mbuf *mbuf, struct way *way)
{
	struct flow_parsed parsed;

	flow_key_parse(frame_of(mbuf), mbuf->data_len, &parsed);
	way->kind = parsed.kind;
	way->version = parsed.key.version;
	way->words = flow_words(&parsed.key);
	way->addition = (struct flow_addition){.bytes = mbuf->data_len,
		.direction = parsed.direction,
		.tcp_flags = parsed.tcp_flags,
		.l3_offset = parsed.l3_offset,
		.l3_byte = parsed.l3_byte};
	/* Fragments, and headers too far away to be found again, one by one. */
	if (parsed.kind != FLOW_KIND_PACKET || parsed.l3_offset == 0)
		way->version = 0;
	if (way->version == 0)
		way->words = (struct flow_words){0, 0};
}

static __rte_always_inline const uint8_t *addresses6_of(
	const struct rte_mbuf *mbuf, const struct way *way)
{
	return way->version == 6 ? frame_of(mbuf) + way->addition.l3_offset + 8 : NULL;
}

/* Notes the offset of a marked packet's TCP flags. */
static __rte_always_inline void note_header(
	struct flow_record *record, const struct flow_addition *addition)
{
	record->l3_offset[addition->direction] = addition->l3_offset;
	record->l3_byte = addition->l3_byte;
}

static void fragment_of(
	const struct flow_parsed *parsed, uint32_t now_ms, struct flow_fragment *fragment)
{
	const struct flow_key *key = &parsed->key;
	bool own = key->version == 4 ? key->low_address == key->high_address
				     : memcmp(parsed->addresses6, parsed->addresses6 + 16, 16) == 0;
	/* Ports tell who sends when the addresses do not, and later fragments have none. */
	uint32_t sender = own ? 0 : parsed->direction;
	/* RFC 8200, 4.5: IPv6's fragments go by addresses and identification alone. */
	uint32_t protocol = key->version == 4 ? key->protocol : 0;

	fragment->addresses = flow_words(key).first;
	fragment->id = parsed->fragment_id;
	fragment->kind = sender << 16 | (uint32_t)key->version << 8 | protocol;
	fragment->seen_ms = now_ms;
}

static bool record_later_fragment(
	struct flow_table *table, const struct flow_parsed *parsed, uint32_t bytes)
{
	struct flow_fragment fragment;
	struct flow_addition addition = {.bytes = bytes};
	const struct flow_record *record;
	uint32_t mark, index;

	fragment_of(parsed, table->now_ms, &fragment);
	mark = flow_fragments_find(&table->fragments, &fragment, table->now_ms);
	index = FLOW_MARK_INDEX(mark);
	record = &table->records[index];
	if (mark == FLOW_MARK_NONE || record->generation != FLOW_MARK_GENERATION(mark) ||
		(record->state != FLOW_OPEN && record->state != FLOW_CLOSING))
		return false;
	addition.direction = FLOW_MARK_DIRECTION(mark);
	flow_add(table, index, &addition);
	return true;
}

/* Records a fragment, or a packet whose header is far away. Returns the record's number. */
static uint32_t record_odd(struct flow_table *table, const struct rte_mbuf *mbuf, struct way *way)
{
	struct flow_parsed parsed;
	struct flow_words words;
	enum flow_direction direction;
	struct flow_fragment fragment;
	uint32_t index;

	flow_key_parse(frame_of(mbuf), mbuf->data_len, &parsed);
	words = flow_words(&parsed.key);
	direction = (enum flow_direction)parsed.direction;
	if (parsed.kind == FLOW_KIND_LATER_FRAGMENT) {
		table->counters.not_recorded[FLOW_LOST_FRAGMENT] +=
			!record_later_fragment(table, &parsed, mbuf->data_len);
		return flow_none(table);
	}
	index = flow_find(table, words, parsed.addresses6, direction);
	if (index == flow_none(table))
		index = flow_create(table, words, parsed.addresses6, direction);
	if (index == flow_none(table)) {
		table->counters.not_recorded[FLOW_TABLE_FULL]++;
		return index;
	}
	flow_add(table, index, &way->addition);
	if (parsed.kind == FLOW_KIND_FIRST_FRAGMENT) {
		fragment_of(&parsed, table->now_ms, &fragment);
		fragment.mark = FLOW_MARK(index, direction, table->records[index].generation);
		flow_fragments_learn(&table->fragments, &fragment);
	}
	return index;
}

/* Records a packet that was not found at once. Returns the record's number. */
static __rte_noinline uint32_t record_slowly(
	struct flow_table *table, const struct rte_mbuf *mbuf, struct way *way)
{
	const uint8_t *addresses6 = addresses6_of(mbuf, way);
	enum flow_direction direction = (enum flow_direction)way->addition.direction;
	uint32_t index;

	switch ((enum flow_kind)way->kind) {
	case FLOW_KIND_NO_IP:
		table->counters.not_recorded[FLOW_NOT_IP]++;
		return flow_none(table);
	case FLOW_KIND_BROKEN:
		table->counters.not_recorded[FLOW_BROKEN]++;
		return flow_none(table);
	default:
		break;
	}
	if (way->words.second == 0)
		return record_odd(table, mbuf, way);
	index = flow_find(table, way->words, addresses6, direction);
	if (index == flow_none(table))
		index = flow_create(table, way->words, addresses6, direction);
	if (index == flow_none(table)) {
		table->counters.not_recorded[FLOW_TABLE_FULL]++;
		return index;
	}
	flow_add(table, index, &way->addition);
	note_header(&table->records[index], &way->addition);
	return index;
}

static __rte_always_inline void parse_all(
	struct flow_table *table, struct rte_mbuf **mbufs, struct way *ways, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct way *way = &ways[i];
		uint64_t hash;

		if (likely(i + 2 * AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * AHEAD]);
		if (likely(i + AHEAD < count))
			rte_prefetch0(frame_of(mbufs[i + AHEAD]));
		if (likely(flow_plain_parse(
			    frame_of(mbufs[i]), mbufs[i]->data_len, &way->words, &way->addition))) {
			way->version = 4;
			way->kind = FLOW_KIND_PACKET;
		} else {
			parse_other(mbufs[i], way);
		}
		hash = flow_words_hash(table, way->words);
		way->number = (uint32_t)hash & table->mask;
		way->signature = flow_hash_signature(hash);
		rte_prefetch0(&table->buckets[way->number]);
	}
}

static __rte_always_inline void find_all(
	struct flow_table *table, struct way *ways, unsigned count, match_t match)
{
	for (unsigned i = 0; i < count; i++) {
		const struct flow_bucket *bucket = &table->buckets[ways[i].number];
		unsigned found = match(bucket, ways[i].signature);
		uint32_t index = bucket->indices[__builtin_ctz(found | 1u << 15) >> 1];

		index = found != 0 ? index : flow_none(table);
		ways[i].number = index;
		rte_prefetch0(&table->records[index]);
	}
}

static __rte_always_inline void update_all(
	struct flow_table *table, struct rte_mbuf **mbufs, struct way *ways, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct way *way = &ways[i];
		struct flow_record *record = &table->records[way->number];

		if (likely(flow_words_same(flow_words(&record->key), way->words) &&
			    (way->version == 4 ||
				    (way->version == 6 &&
					    flow_same6(&table->addresses6[way->number],
						    addresses6_of(mbufs[i], way),
						    (enum flow_direction)
							    way->addition.direction))))) {
			flow_add(table, way->number, &way->addition);
			if (table->offload)
				note_header(record, &way->addition);
		} else {
			way->number = record_slowly(table, mbufs[i], way);
		}
	}
}

/* Packets until the next sample: FLOW_SAMPLE_EVERY on average, and never in step
 * with traffic that repeats itself. */
static uint32_t sample_distance(struct flow_table *table)
{
	uint32_t dice = table->sample_dice;

	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	table->sample_dice = dice;
	return FLOW_SAMPLE_EVERY / 2 + 1 + (dice >> 8) % FLOW_SAMPLE_EVERY;
}

static void sample(
	struct flow_table *table, const struct rte_mbuf *mbuf, uint32_t mark, bool marked)
{
	if (table->nb_samples == FLOW_SAMPLES_MAX) {
		table->counters.lost_samples++;
		return;
	}
	table->samples[table->nb_samples++] =
		(struct flow_sample){.mark = mark, .marked = marked, .port = mbuf->port};
}

static __rte_noinline void sample_parsed(
	struct flow_table *table, struct rte_mbuf **mbufs, const struct way *ways, unsigned count)
{
	while (table->sample_in[0] < count) {
		const struct way *way = &ways[table->sample_in[0]];

		if (way->number != flow_none(table))
			sample(table, mbufs[table->sample_in[0]],
				FLOW_MARK(table->base + way->number, way->addition.direction,
					table->records[way->number].generation),
				false);
		table->sample_in[0] += sample_distance(table);
	}
	table->sample_in[0] -= count;
}

static __rte_always_inline void record_parsed(
	struct flow_table *table, struct rte_mbuf **mbufs, unsigned count, match_t match)
{
	struct way ways[FLOW_VECTOR_MAX];

	parse_all(table, mbufs, ways, count);
	find_all(table, ways, count, match);
	update_all(table, mbufs, ways, count);
	if (table->offload)
		sample_parsed(table, mbufs, ways, count);
}

static void record_parsed_scalar(struct flow_table *table, struct rte_mbuf **mbufs, unsigned count)
{
	record_parsed(table, mbufs, count, match_scalar);
}

#ifdef __SSE2__
static void record_parsed_sse2(struct flow_table *table, struct rte_mbuf **mbufs, unsigned count)
{
	record_parsed(table, mbufs, count, match_sse2);
}
#endif

void flow_table_use_scalar(struct flow_table *table)
{
	table->record_parsed = record_parsed_scalar;
}

void flow_table_use_best(struct flow_table *table)
{
	flow_table_use_scalar(table);
#ifdef __SSE2__
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_128)
		table->record_parsed = record_parsed_sse2;
#endif
}

/*
 * Finds a TCP packet's flags where the flow's packets have them. Returns false when its headers are
 * not those that were parsed before: type, version and length of the IP header must be there.
 */
static __rte_always_inline bool known_tcp_flags(const struct flow_record *record,
	const struct rte_mbuf *mbuf, unsigned direction, uint8_t *flags)
{
	unsigned l3_offset = record->l3_offset[direction], header = IP6_HEADER_BYTES;
	const uint8_t *ip = frame_of(mbuf) + l3_offset;
	uint16_t type = RTE_ETHER_TYPE_IPV6;

	if (unlikely(l3_offset == 0))
		return false;
	if (likely(record->key.version == 4)) {
		header = (record->l3_byte & 0xfu) * 4;
		type = RTE_ETHER_TYPE_IPV4;
	} else if (ip[IP6_NEXT_HEADER] != IPPROTO_TCP) {
		return false;
	}
	if (unlikely(*ip != record->l3_byte || flow_read16(ip - 2) != type ||
		     l3_offset + header + TCP_FLAGS_AFTER >= mbuf->data_len))
		return false;
	*flags = ip[header + TCP_FLAGS_AFTER];
	return true;
}

static __rte_noinline void sample_marked(
	struct flow_table *table, struct rte_mbuf **mbufs, unsigned count)
{
	while (table->sample_in[1] < count) {
		const struct rte_mbuf *mbuf = mbufs[table->sample_in[1]];

		sample(table, mbuf, mbuf->hash.fdir.hi, true);
		table->sample_in[1] += sample_distance(table);
	}
	table->sample_in[1] -= count;
}

/* Records the packets whose marks are right, each in the record of the same place in `indices`.
 * Those that must be parsed are written to `mbufs`, in their order, and their number returned. */
static __rte_always_inline unsigned record_marked(struct flow_table *table,
	struct rte_mbuf **marked, const uint32_t *indices, unsigned count, struct rte_mbuf **mbufs)
{
	unsigned parse = 0, bad = 0;
	bool tcp = false;

	for (unsigned i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = marked[i];
		const struct flow_record *record = &table->records[indices[i]];
		uint32_t mark = mbuf->hash.fdir.hi;
		struct flow_addition addition = {
			.bytes = mbuf->data_len, .direction = FLOW_MARK_DIRECTION(mark)};

		if (unlikely(record->generation != FLOW_MARK_GENERATION(mark) ||
			     (record->state != FLOW_OPEN && record->state != FLOW_CLOSING))) {
			bad++;
			mbufs[parse++] = marked[i];
			continue;
		}
		if (record->key.protocol == IPPROTO_TCP) {
			tcp = true;
			if (unlikely(!known_tcp_flags(
				    record, mbuf, addition.direction, &addition.tcp_flags))) {
				mbufs[parse++] = marked[i];
				continue;
			}
		}
		flow_add(table, indices[i], &addition);
	}
	table->marked_tcp = tcp;
	table->counters.bad_marks += bad;
	table->counters.marked += count - parse;
	return parse;
}

/* Parts the vector in marked packets and others, each in their order, and fetches the records that
 * marks name: all of them at once, since that is all there is to wait for. */
static __rte_noinline void record_with_marks(
	struct flow_table *table, struct rte_mbuf **mbufs, unsigned count)
{
	struct rte_mbuf *marked[FLOW_VECTOR_MAX], *others[2 * FLOW_VECTOR_MAX];
	uint32_t indices[FLOW_VECTOR_MAX];
	unsigned nb_marked = 0, nb_others = 0;

	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		bool has_mark = (mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0;
		uint32_t index = FLOW_MARK_INDEX(mbuf->hash.fdir.hi) - table->base;

		if (likely(i + 2 * AHEAD < count))
			rte_prefetch0(mbufs[i + 2 * AHEAD]);
		index = has_mark && index < table->capacity ? index : flow_none(table);
		rte_prefetch0_write(&table->records[index]);
		if (table->marked_tcp)
			rte_prefetch0(frame_of(mbuf));
		indices[nb_marked] = index;
		marked[nb_marked] = others[nb_others] = mbuf;
		nb_marked += has_mark;
		nb_others += !has_mark;
	}
	if (nb_marked > 0) {
		nb_others += record_marked(table, marked, indices, nb_marked, others + nb_others);
		sample_marked(table, marked, nb_marked);
	}
	if (nb_others > 0)
		table->record_parsed(table, others, nb_others);
}

void flow_table_record(struct flow_table *table, struct rte_mbuf **mbufs, unsigned count)
{
	table->counters.packets += count;
	if (table->offload)
		record_with_marks(table, mbufs, count);
	else
		table->record_parsed(table, mbufs, count);
}
