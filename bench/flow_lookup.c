/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow table's lookup against two of DPDK's: rte_hash by bulk and rte_table_hash_ext. Each is
 * the whole path over packets in memory: parse, look up, update the flow's record; the parser and
 * the records are the same, and all tables lie on the same kind of pages. Packets are of uniformly
 * random flows and written anew, untimed, before each round. All run in turn in one process, and
 * marked packets (no parsing, no lookup) and the learning of new flows as well.
 */
#include "core/memory.h"
#include "flow/flow_plain.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>
#include <rte_table_hash.h>
#include <rte_table_hash_func.h>
#include <stdio.h>
#include <unistd.h>

#define PACKETS 2048 /* in the rings of a port: what the caches see of packets */
#define VECTOR FLOW_VECTOR_MAX
#define BULK 64
#define FRAME_BYTES 60
#define ROUNDS_IN_TURN 32
#define KEY_BYTES 16
#define AHEAD 4
/* Milliseconds in which this number of flows is learnt; they end after as long. */
#define LEARN_A_MS 1000

struct record {
	uint64_t packets[2], bytes[2];
	uint32_t last_seen_ms[2];
	uint8_t tcp_flags[2];
	uint8_t l3_offset[2];
	uint8_t l3_byte;
} __rte_cache_aligned;

static uint32_t nb_flows;
static uint8_t protocol = IPPROTO_UDP;
static struct rte_mempool *pool;
static struct rte_mbuf *mbufs[PACKETS];
static uint64_t dice = 88172645463325252ull;
static uint32_t *marks; /* by flow and direction */

static struct flow_table *table;
static struct rte_hash *hash;
static struct record *records; /* of rte_hash's positions */
static void *ext;

static uint64_t next_random(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice;
}

/* Writes the packet of a flow: its number, mixed, is the addresses. */
static void fill_one(struct rte_mbuf *mbuf, uint64_t number, bool reversed)
{
	uint64_t seed = number, ends = flow_hash_secret(&seed);
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t addresses[2] = {(uint32_t)ends, (uint32_t)(ends >> 32)};
	uint16_t ports[2] = {(uint16_t)number, (uint16_t)(number >> 16)};

	memcpy(frame + 26, &addresses[reversed], 4);
	memcpy(frame + 30, &addresses[!reversed], 4);
	memcpy(frame + 34, &ports[reversed], 2);
	memcpy(frame + 36, &ports[!reversed], 2);
}

static void fill(bool marked)
{
	for (unsigned i = 0; i < PACKETS; i++) {
		uint64_t word = next_random(), number = (uint32_t)word * (uint64_t)nb_flows >> 32;
		bool reversed = word >> 63;

		fill_one(mbufs[i], number, reversed);
		mbufs[i]->ol_flags = 0;
		if (!marked)
			continue;
		mbufs[i]->ol_flags = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
		mbufs[i]->hash.fdir.hi = marks[2 * number + reversed];
	}
}

static void add(struct record *record, const struct flow_addition *addition)
{
	unsigned direction = addition->direction;

	record->packets[direction]++;
	record->bytes[direction] += addition->bytes;
	record->last_seen_ms[direction] = 1;
	record->tcp_flags[direction] |= addition->tcp_flags;
	record->l3_offset[direction] = addition->l3_offset;
	record->l3_byte = addition->l3_byte;
}

static void parse(struct rte_mbuf **vector, unsigned i, unsigned count, struct flow_words *words,
	struct flow_addition *addition)
{
	if (i + 2 * AHEAD < count)
		rte_prefetch0(vector[i + 2 * AHEAD]);
	if (i + AHEAD < count)
		rte_prefetch0(rte_pktmbuf_mtod(vector[i + AHEAD], void *));
	if (!flow_plain_parse(rte_pktmbuf_mtod(vector[i], const uint8_t *), vector[i]->data_len,
		    words, addition))
		abort();
}

static void run_table(struct rte_mbuf **vector)
{
	flow_table_record(table, vector, VECTOR);
	table->nb_samples = 0;
}

static void run_hash(struct rte_mbuf **vector)
{
	struct flow_addition additions[VECTOR];
	struct flow_words words[VECTOR];
	const void *keys[VECTOR];
	int32_t positions[VECTOR];

	for (unsigned i = 0; i < VECTOR; i++) {
		parse(vector, i, VECTOR, &words[i], &additions[i]);
		keys[i] = &words[i];
	}
	for (unsigned i = 0; i < VECTOR; i += BULK) {
		if (rte_hash_lookup_bulk(hash, &keys[i], BULK, &positions[i]) != 0)
			abort();
		for (unsigned j = i; j < i + BULK; j++)
			rte_prefetch0(&records[positions[j]]);
	}
	for (unsigned i = 0; i < VECTOR; i++)
		add(&records[positions[i]], &additions[i]);
}

/* The record is the table's entry; the key lies in the headroom, where the table reads it. */
static void run_ext(struct rte_mbuf **vector)
{
	struct flow_addition additions[VECTOR];
	struct record *entries[BULK];

	for (unsigned i = 0; i < VECTOR; i++)
		parse(vector, i, VECTOR, (struct flow_words *)rte_mbuf_to_priv(vector[i]),
			&additions[i]);
	for (unsigned i = 0; i < VECTOR; i += BULK) {
		uint64_t hit = 0;

		rte_table_hash_ext_ops.f_lookup(
			ext, &vector[i], UINT64_MAX, &hit, (void **)entries);
		if (hit != UINT64_MAX)
			abort();
		for (unsigned j = 0; j < BULK; j++)
			add(entries[j], &additions[i + j]);
	}
}

static bool create_peers(void)
{
	struct rte_hash_parameters hash_parameters = {
		.name = "flows",
		.entries = rte_align32pow2(2 * nb_flows),
		.key_len = KEY_BYTES,
		.hash_func = rte_hash_crc,
		.socket_id = memory_socket(),
	};
	uint8_t mask[KEY_BYTES];
	struct rte_table_hash_params ext_parameters = {
		.name = "flows-ext",
		.key_size = KEY_BYTES,
		.key_offset = sizeof(struct rte_mbuf),
		.key_mask = mask,
		.n_keys = nb_flows,
		.n_buckets = rte_align32pow2(nb_flows / 2),
		.f_hash = rte_table_hash_crc_key16,
	};

	memset(mask, 0xff, sizeof(mask));
	hash = rte_hash_create(&hash_parameters);
	ext = rte_table_hash_ext_ops.f_create(
		&ext_parameters, memory_socket(), sizeof(struct record));
	records = rte_zmalloc_socket("records",
		((size_t)hash_parameters.entries + 8) * sizeof(struct record), RTE_CACHE_LINE_SIZE,
		memory_socket());
	return hash != NULL && ext != NULL && records != NULL;
}

static bool add_to_peers(struct rte_mbuf *mbuf)
{
	static const struct record empty;
	struct flow_addition addition;
	struct flow_words words;
	void *entry;
	int found;

	parse(&mbuf, 0, 1, &words, &addition);
	return rte_hash_add_key(hash, &words) >= 0 &&
	       rte_table_hash_ext_ops.f_add(
		       ext, &words, (void *)(uintptr_t)&empty, &found, &entry) == 0;
}

/* All flows, in all tables. */
static bool learn_all(void)
{
	for (uint64_t number = 0; number < nb_flows; number++) {
		struct flow_parsed parsed;
		uint32_t index;

		fill_one(mbufs[0], number, false);
		mbufs[0]->ol_flags = 0;
		flow_table_record(table, mbufs, 1);
		if (hash != NULL && !add_to_peers(mbufs[0]))
			return false;
		flow_key_parse(rte_pktmbuf_mtod(mbufs[0], const uint8_t *), FRAME_BYTES, &parsed);
		index = flow_find(table, flow_words(&parsed.key), NULL, 0);
		for (unsigned reversed = 0; reversed < 2; reversed++)
			marks[2 * number + reversed] = FLOW_MARK(index, parsed.direction ^ reversed,
				table->records[index].generation);
	}
	return table->live == nb_flows;
}

enum contestant { TABLE, HASH, EXT, MARKED, CONTESTANTS };
static const char *const names[CONTESTANTS] = {
	"flow_table", "rte_hash", "rte_table_hash_ext", "marked"};
static uint64_t clocks[CONTESTANTS], packets[CONTESTANTS];

static void one_turn(enum contestant who)
{
	static void (*const runs[CONTESTANTS])(struct rte_mbuf * *vector) = {
		run_table, run_hash, run_ext, run_table};

	table->offload = who == MARKED;
	for (unsigned round = 0; round < ROUNDS_IN_TURN; round++) {
		fill(who == MARKED);
		for (unsigned i = 0; i < PACKETS; i += VECTOR) {
			uint64_t start = rte_rdtsc_precise();

			runs[who](&mbufs[i]);
			clocks[who] += rte_rdtsc_precise() - start;
			packets[who] += VECTOR;
		}
	}
}

/* Learns new flows only, as many ending as begin. Returns cycles per flow. */
static double learn(uint32_t flows_live)
{
	const struct flow_table_config config = {.capacity = flows_live * 2,
		.seed = 3,
		.timeouts = {.idle_ms = flows_live / LEARN_A_MS, .closing_ms = 2000}};
	struct flow_table *fresh = flow_table_create(&config);
	uint64_t spent = 0, number = 1ull << 32, measured = 0;

	if (fresh == NULL)
		return 0;
	for (uint32_t total = 0; total < 4 * flows_live; total += VECTOR) {
		uint64_t start;

		for (unsigned i = 0; i < VECTOR; i++)
			fill_one(mbufs[i], number++, false);
		start = rte_rdtsc_precise();
		flow_table_record(fresh, mbufs, VECTOR);
		(void)flow_table_work(fresh, total / LEARN_A_MS);
		/* Once flows end too. */
		if (total < 2 * flows_live)
			continue;
		spent += rte_rdtsc_precise() - start;
		measured += VECTOR;
	}
	if (fresh->counters.not_recorded[FLOW_TABLE_FULL] != 0)
		fprintf(stderr, "learning: the table was full\n");
	flow_table_free(fresh);
	return (double)spent / (double)measured;
}

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t all = 0, resident = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%zu %zu", &all, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static bool make_packets(void)
{
	static const uint8_t head[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64};

	/* Room for the key between mbuf and frame. */
	pool = rte_pktmbuf_pool_create(
		"packets", 2 * PACKETS - 1, 0, 64, RTE_PKTMBUF_HEADROOM + 128, memory_socket());
	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, mbufs, PACKETS) != 0)
		return false;
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], uint8_t *);

		memset(frame, 0, FRAME_BYTES);
		memcpy(frame, head, sizeof(head));
		frame[23] = protocol;
		frame[47] = 0x10;
		mbufs[i]->data_len = FRAME_BYTES;
		mbufs[i]->pkt_len = FRAME_BYTES;
	}
	return true;
}

static bool start_memory(char *program, int cpu, unsigned megabytes)
{
	struct config config;
	struct config_node root;
	char text[64], lcores[32], prefix[64];
	const char *arguments[24] = {program, "--lcores", lcores, "--no-pci", "--no-telemetry",
		"--log-level", "error", "--iova-mode=va", "--force-max-simd-bitwidth=512",
		"--file-prefix", prefix};
	int count = 11, more;

	snprintf(text, sizeof(text), "{\"megabytes\": %u}", megabytes);
	snprintf(lcores, sizeof(lcores), "0@%d", cpu);
	snprintf(prefix, sizeof(prefix), "linerate-flow-lookup-%d", getpid());
	if (config_open_text(&config, "memory", text) != 0)
		return false;
	root = config_root(&config);
	memory_parse(&root);
	config_close(&config);
	more = memory_eal_arguments(arguments + count, 8);
	if (more < 0)
		return false;
	count += more;
	return rte_eal_init(count, (char **)(uintptr_t)arguments) >= 0 && memory_start() == 0;
}

static void print_all(double table_mib, double learning)
{
	printf("{\"flows\": %u, \"tsc_hz\": %lu, \"table_mib\": %.0f", nb_flows, rte_get_tsc_hz(),
		table_mib);
	for (unsigned who = 0; who < CONTESTANTS; who++)
		if (packets[who] > 0)
			printf(", \"%s\": %.2f", names[who],
				(double)clocks[who] / (double)packets[who]);
	if (learning > 0)
		printf(", \"learning\": %.1f, \"learning_mfps\": %.2f", learning,
			(double)rte_get_tsc_hz() / learning / 1e6);
	printf("}\n");
}

static void measure(unsigned milliseconds)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * milliseconds;

	for (unsigned who = 0; who < CONTESTANTS; who++)
		one_turn((enum contestant)who);
	memset(clocks, 0, sizeof(clocks));
	memset(packets, 0, sizeof(packets));
	while (rte_rdtsc() < end)
		for (unsigned who = 0; who < CONTESTANTS; who++)
			if (who == TABLE || who == MARKED || hash != NULL)
				one_turn((enum contestant)who);
}

int main(int argc, char **argv)
{
	unsigned milliseconds = argc >= 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	struct flow_table_config config = {
		.seed = 7, .timeouts = {.idle_ms = 1u << 30, .closing_ms = 2000}};
	size_t before;

	nb_flows = argc >= 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	if (milliseconds == 0 || nb_flows < 256 || nb_flows >= FLOW_INDEX_MASK) {
		fprintf(stderr, "usage: linerate-flow-lookup CPU FLOWS MILLISECONDS [tcp]\n");
		return 2;
	}
	if (argc > 4 && strcmp(argv[4], "tcp") == 0)
		protocol = IPPROTO_TCP;
	if (!start_memory(argv[0], atoi(argv[1]),
		    (256 + nb_flows / 1024 * 750 / 1024) & ~1u)) /* whole huge pages */
		return 1;
	config.capacity = nb_flows;
	marks = malloc(2 * (size_t)nb_flows * sizeof(*marks));
	if (marks != NULL) /* Its pages are no part of what the table takes. */
		memset(marks, 0xff, 2 * (size_t)nb_flows * sizeof(*marks));
	if (marks == NULL || !make_packets() || !create_peers()) {
		fprintf(stderr, "linerate-flow-lookup: out of memory\n");
		return 1;
	}
	before = resident_bytes();
	table = flow_table_create(&config);
	if (table == NULL || !learn_all()) {
		fprintf(stderr, "linerate-flow-lookup: %u flows do not fit\n", nb_flows);
		return 1;
	}
	before = resident_bytes() - before;
	measure(milliseconds);
	print_all((double)before / 1048576,
		learn(nb_flows < 100000 ? 100000 : RTE_MIN(nb_flows, 1000000u)));
	(void)rmdir(rte_eal_get_runtime_dir());
	return 0;
}
