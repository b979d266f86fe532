/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No two workers of a tester write to the same cache line: of the structures that workers write
 * to, none shares a line with another worker's; and of all of the program's memory, no line changes
 * when one worker walks and when another does. Both of fixed streams, and of profiles.
 */
#include "core/worker.h"
#include "tester/profile.h"
#include "tester/program.h"
#include "tester/stream_rx.h"
#include "tester/template.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "tester_harness.h"

#include <inttypes.h>
#include <pthread.h>
#include <rte_cycles.h>

#define SENDERS 3
#define LINE RTE_CACHE_LINE_SIZE
#define WALKS 20

_Static_assert(offsetof(struct tester_sender, nb_held) % LINE == 0, "its worker's from there on");
_Static_assert(sizeof(struct tester_sender) % LINE == 0, "whole lines");
_Static_assert(offsetof(struct profile_part, seen) % LINE == 0, "its worker's from there on");
_Static_assert(sizeof(struct profile_part) % LINE == 0, "whole lines");
_Static_assert(offsetof(struct tester_worker, received) % LINE == 0, "its own from there on");
_Static_assert(offsetof(struct worker, loops) % LINE == 0, "its own from there on");
_Static_assert(sizeof(struct stream) % LINE == 0, "whole lines");
_Static_assert(sizeof(struct stream_rx) % LINE == 0, "whole lines");

/* Frames that one sender's port has taken go back to its pool: what a device does is its own. */
const struct tester_device tester_device = {.max_frame_bytes = 1518};

/* Bytes that one worker writes to. */
struct region {
	const char *name;
	uintptr_t from, to;
	unsigned worker;
};

#define REGIONS_MAX 4096
static struct region regions[REGIONS_MAX];
static unsigned nb_regions;

static void note(const char *name, const void *from, size_t bytes, unsigned worker)
{
	if (from == NULL || bytes == 0)
		return;
	CHECK(nb_regions < REGIONS_MAX);
	/* Only what begins a line has no other's before it. */
	CHECK_EQUAL((uintptr_t)from % LINE, 0);
	regions[nb_regions++] =
		(struct region){name, (uintptr_t)from, (uintptr_t)from + bytes, worker};
}

static void note_schedule(const struct schedule *schedule, unsigned worker)
{
	note("schedule", schedule, sizeof(*schedule), worker);
}

static void note_heap(const struct due_heap *heap, unsigned worker)
{
	note("due heap", heap->memory, (heap->count + 3) * sizeof(*heap->dues), worker);
}

static void note_stream(const struct stream *stream, unsigned worker)
{
	note("stream", stream, offsetof(struct stream, first_sequence), worker);
	note("flows", stream->flows, sizeof(struct flows), worker);
	if (stream->template != NULL && stream->template->program != NULL)
		note("variables", stream->template->program->variables,
			stream->template->program->nb_variables * sizeof(struct variable), worker);
}

static void note_part(const struct profile_part *part, unsigned worker)
{
	note("profile", &part->seen, sizeof(*part) - offsetof(struct profile_part, seen), worker);
	if (part->order == NULL)
		return;
	for (unsigned i = 0; i < part->order->nb_schedules; i++)
		note_schedule(part->order->schedules[i], worker);
	for (unsigned clock = 0; clock < PROFILE_CLOCKS; clock++)
		note_heap(&part->order->due[clock], worker);
}

static void note_sender(const struct tester_port *port, unsigned number, unsigned worker)
{
	const struct tester_sender *sender = port->senders[number];

	note("sender", &sender->nb_held, sizeof(*sender) - offsetof(struct tester_sender, nb_held),
		worker);
	for (unsigned i = 0; i < sender->nb_schedules; i++)
		note_schedule(&sender->schedules[i], worker);
	note_heap(&sender->due, worker);
	for (unsigned i = 0; i < port->nb_streams; i++)
		if (port->streams[i]->sender == number)
			note_stream(port->streams[i], worker);
	for (unsigned i = 0; port->profiles != NULL && i < port->profiles->count; i++)
		note_part(&port->profiles->profiles[i]->parts[number], worker);
}

static void note_worker(unsigned number)
{
	const struct tester_worker *rx = tester.workers[number];
	const struct worker *worker = rx->worker;

	note("worker", &worker->loops, sizeof(*worker) - offsetof(struct worker, loops), number);
	note("counters", &rx->received, sizeof(*rx) - offsetof(struct tester_worker, received),
		number);
	note("received", rx->streams, tester.nb_streams * sizeof(*rx->streams), number);
	note("latencies", rx->latency_room, LINE, number);
}

static int by_address(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void note_all(void)
{
	nb_regions = 0;
	for (unsigned p = 0; p < tester.nb_ports; p++)
		for (unsigned s = 0; s < tester.ports[p].nb_senders; s++)
			note_sender(&tester.ports[p], s, tester_worker_of_sender(p, s));
	for (unsigned i = 0; i < tester.nb_workers; i++)
		note_worker(i);
	qsort(regions, nb_regions, sizeof(*regions), by_address);
}

/* Each region ends before the line where the next worker's begins. */
static void check_regions(void)
{
	unsigned workers = 0;

	note_all();
	for (unsigned i = 0; i < nb_regions; i++) {
		workers |= 1u << regions[i].worker;
		for (unsigned k = i + 1;
			k < nb_regions && regions[k].from / LINE <= (regions[i].to - 1) / LINE; k++)
			if (regions[k].worker != regions[i].worker) {
				fprintf(stderr, "%s of worker %u, %s of worker %u\n",
					regions[i].name, regions[i].worker, regions[k].name,
					regions[k].worker);
				CHECK(false);
			}
	}
	CHECK_EQUAL(workers, (1u << SENDERS) - 1);
	CHECK(nb_regions > 10 * SENDERS);
}

#ifdef __SANITIZE_ADDRESS__
/* Its own memory is too much to look at. */
static void check_writes(void)
{
}
#else

#define AREAS_MAX 256
#define LINES_MAX (1u << 20)

/* Memory of the program that can be written to, and a copy of it. */
static struct area {
	uint8_t *from;
	size_t bytes;
	uint8_t *copy;
} areas[AREAS_MAX];
static unsigned nb_areas;

/* Lines that each worker's walks changed. */
static uintptr_t *changed[SENDERS];
static unsigned nb_changed[SENDERS];

static void find_areas(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char text[512];

	nb_areas = 0;
	while (fgets(text, sizeof(text), maps) != NULL) {
		uintptr_t from, to;
		char access[8];

		if (sscanf(text, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, access) != 3 ||
			strncmp(access, "rw", 2) != 0 || strstr(text, "[stack]") != NULL)
			continue;
		CHECK(nb_areas < AREAS_MAX);
		areas[nb_areas++] = (struct area){.from = (uint8_t *)from, .bytes = to - from};
	}
	fclose(maps);
}

/* Areas that hold what workers write, and the program's own; none that the copies are in. */
static void copy_areas(void)
{
	for (unsigned i = 0; i < nb_areas; i++)
		memcpy(areas[i].copy, areas[i].from, areas[i].bytes);
}

static bool is_harness(uintptr_t at)
{
	const void *const own[] = {areas, &nb_areas, changed, nb_changed, &device_clock,
		&test_checks, &test_failures, regions, &nb_regions};
	const size_t bytes[] = {sizeof(areas), sizeof(nb_areas), sizeof(changed),
		sizeof(nb_changed), sizeof(device_clock), sizeof(test_checks),
		sizeof(test_failures), sizeof(regions), sizeof(nb_regions)};

	for (unsigned i = 0; i < RTE_DIM(own); i++)
		if (at + LINE > (uintptr_t)own[i] && at < (uintptr_t)own[i] + bytes[i])
			return true;
	return false;
}

static void note_changed(unsigned worker)
{
	for (unsigned i = 0; i < nb_areas; i++)
		for (size_t at = 0; at < areas[i].bytes; at += LINE) {
			uintptr_t line = (uintptr_t)areas[i].from + at;

			if (memcmp(areas[i].from + at, areas[i].copy + at, LINE) != 0 &&
				!is_harness(line) && nb_changed[worker] < LINES_MAX)
				changed[worker][nb_changed[worker]++] = line;
		}
}

static int by_line(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

static unsigned count_shared(unsigned one, unsigned other)
{
	unsigned count = 0;

	for (unsigned i = 0; i < nb_changed[one]; i++) {
		uintptr_t line = changed[one][i];

		if (bsearch(&line, changed[other], nb_changed[other], sizeof(line), by_line) ==
			NULL)
			continue;
		fprintf(stderr, "line %#" PRIxPTR " is written by workers %u and %u\n", line, one,
			other);
		count++;
	}
	return count;
}

/* Each worker walks by itself, and the lines that it changed are looked for. */
static void check_writes(void)
{
	find_areas();
	for (unsigned i = 0; i < nb_areas; i++)
		areas[i].copy = malloc(areas[i].bytes);
	for (unsigned worker = 0; worker < SENDERS; worker++) {
		changed[worker] = malloc(LINES_MAX * sizeof(uintptr_t));
		nb_changed[worker] = 0;
	}
	for (unsigned worker = 0; worker < SENDERS; worker++) {
		uint64_t before = tester_sent();

		copy_areas();
		for (unsigned i = 0; i < WALKS; i++) {
			device_clock += rte_get_tsc_hz() / 100000;
			tester_walk_worker(worker);
		}
		note_changed(worker);
		CHECK(tester_sent() > before);
		CHECK(nb_changed[worker] > 10);
		qsort(changed[worker], nb_changed[worker], sizeof(uintptr_t), by_line);
	}
	for (unsigned one = 0; one < SENDERS; one++)
		for (unsigned other = one + 1; other < SENDERS; other++)
			CHECK_EQUAL(count_shared(one, other), 0);
}
#endif

#define LAYERS \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"udp\": {}}]"
#define BYTES_64 \
	"0200000000010200000000020800450000200001000040110000" \
	"0a0000010a000002c35000350000000068656c6f"
#define STREAMS(port) \
	"{\"name\": \"flows\", " port "\"rate\": {\"pps\": 1e6}, \"flows\": {\"count\": 100, " \
	"\"src\": {\"min\": \"16.0.0.0\", \"max\": \"16.0.0.99\"}}, " LAYERS "}, " \
	"{\"name\": \"plain\", " port "\"rate\": {\"pps\": 1e6}, " LAYERS "}, " \
	"{\"name\": \"varied\", " port "\"rate\": {\"pps\": 1e6}, \"modifiers\": [{\"field\": " \
	"\"udp.src\", \"min\": 1, \"max\": 1000}], " LAYERS \
	"}, " PROGRAM(port, "one") ", " PROGRAM(port, "two") ", " PROGRAM(port, "three")
#define PROGRAM(port, name) \
	"{\"name\": \"" name "\", " port "\"rate\": {\"pps\": 3e5}, \"template\": \"" BYTES_64 \
	"\", \"program\": {\"variables\": [{\"name\": \"v\", \"bytes\": 2, \"op\": " \
	"\"increment\", \"min\": 1, \"max\": 9}], \"steps\": [{\"write\": {\"variable\": " \
	"\"v\", \"offset\": 34}}]}}"

static void senders_share_no_line(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 10000000, .scale = 1.0}) > 0);
	tester_walk();
	check_regions();
	check_writes();
}

static int load(const char *name)
{
	char path[] = "/tmp/test_shared_lines.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	int rc;

	fputs("{\"streams\": [" STREAMS("") "]}", file);
	fclose(file);
	rc = profile_load("e0", name, path, stderr);
	unlink(path);
	return rc;
}

static void profiles_share_no_line(void)
{
	static const char *const names[] = {"a", "b"};

	for (unsigned i = 0; i < RTE_DIM(names); i++) {
		CHECK_EQUAL(load(names[i]), 0);
		CHECK_EQUAL(profile_start(
				    "e0", names[i], &(struct profile_start){.scale = 0.5}, stderr),
			0);
	}
	for (unsigned i = 0; i < 2; i++)
		tester_walk();
	check_regions();
	check_writes();
}

static const struct tester_case cases[] = {
	{"senders_share_no_line", senders_share_no_line,
		"\"streams\": [" STREAMS("\"port\": \"e0\", ") "]"},
	{"profiles_share_no_line", profiles_share_no_line, "\"profiles\": true"},
};

int main(void)
{
	tester_senders = SENDERS;
	return tester_run_cases(cases, RTE_DIM(cases));
}
