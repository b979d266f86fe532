/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: the wheel, and what a trial makes of templates. */
#include "tester/connections.h"
#include "config_mistakes.h"
#include "any.h"
#include "test.h"

#include <rte_byteorder.h>
#include <stdbool.h>

/* Each is taken at its tick: never before, and in the order in which those of a tick came. */
static void the_wheel_keeps_time(void)
{
	enum { COUNT = 4000 };
	static uint64_t ticks[COUNT];
	struct connection_wheel wheel = {0};
	uint32_t taken = 0, last = 0;
	uint64_t last_tick = 0;

	CHECK_EQUAL(connection_wheel_create(&wheel, COUNT), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		/* Now, soon, behind a turn of the first wheel, behind all turns of the second. */
		static const uint32_t spans[] = {1, 100, 1u << 14, (1u << 24) + (1u << 20)};

		ticks[i] = any() % spans[i % 4];
		connection_wheel_add(&wheel, i, ticks[i]);
	}
	while (wheel.nb_waiting > 0) {
		uint32_t number = connection_wheel_take(&wheel);

		if (number == WHEEL_NONE) {
			connection_wheel_advance(&wheel);
			continue;
		}
		taken++;
		CHECK_EQUAL(ticks[number], wheel.tick);
		if (taken > 1 && wheel.tick == last_tick && wheel.tick < WHEEL_SLOTS)
			CHECK(number > last);
		last = number;
		last_tick = wheel.tick;
	}
	CHECK_EQUAL(taken, COUNT);
	connection_wheel_free(&wheel, COUNT);
}

/* An entry for a past tick is served at once, and none is lost at the edges. */
static void the_wheel_takes_the_late(void)
{
	struct connection_wheel wheel = {0};

	CHECK_EQUAL(connection_wheel_create(&wheel, 2), 0);
	for (unsigned i = 0; i < WHEEL_SLOTS - 1; i++)
		connection_wheel_advance(&wheel);
	connection_wheel_add(&wheel, 0, 5);
	connection_wheel_add(&wheel, 1, WHEEL_SLOTS);
	CHECK_EQUAL(connection_wheel_take(&wheel), 0);
	CHECK_EQUAL(connection_wheel_take(&wheel), WHEEL_NONE);
	connection_wheel_advance(&wheel);
	CHECK_EQUAL(connection_wheel_take(&wheel), 1);
	CHECK_EQUAL(wheel.nb_waiting, 0);
	connection_wheel_free(&wheel, 2);
}

/* Templates of a second a packet, without ports or buffers: what the node asks for. */
struct made {
	struct connections connections;
	struct connection_template templates[2];
	struct connection_packet packets[5];
	struct connection living[64];
	uint32_t free_numbers[64];
	/* Clients of the first template, of the second; servers of both. */
	struct connection_pool clients[2], servers;
};

#define HERTZ 1000000000.0

static void make_pools(struct made *made, uint32_t max_active)
{
	struct connections *connections = &made->connections;

	made->clients[0].addresses = (struct connection_range){100, 104};
	made->clients[1].addresses = (struct connection_range){300, 301};
	made->servers.addresses = (struct connection_range){200, 202};
	connections->pools[SIDE_CLIENT] = made->clients;
	connections->nb_pools[SIDE_CLIENT] = 2;
	connections->pools[SIDE_SERVER] = &made->servers;
	connections->nb_pools[SIDE_SERVER] = 1;
	connections->client_ports.range = (struct connection_range){1024, 1123};
	CHECK_EQUAL(connection_ports_create(&connections->client_ports, max_active), 0);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQUAL(
			connection_pool_create(&made->clients[i], connections->client_ports.range),
			0);
		made->templates[i].pools[SIDE_CLIENT] = &made->clients[i];
		made->templates[i].pools[SIDE_SERVER] = &made->servers;
	}
}

static struct made *made(uint32_t max_active)
{
	struct made *made = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*made), RTE_CACHE_LINE_SIZE));
	struct connections *connections = &made->connections;

	memset(made, 0, sizeof(*made));
	for (unsigned i = 0; i < 5; i++) {
		made->packets[i].length = 60;
		made->packets[i].gap_clocks = i == 0 || i == 3 ? 0 : (uint64_t)(HERTZ / 10);
		made->packets[i].side = i % 2;
	}
	made->templates[0] = (struct connection_template){
		.nb_packets = 3, .weight = 2, .cps = 10, .phase = 0.25};
	made->templates[1] = (struct connection_template){
		.first_packet = 3, .nb_packets = 2, .weight = 1, .cps = 20, .phase = 0.75};
	connections->templates = made->templates;
	connections->nb_templates = 2;
	connections->packets = made->packets;
	connections->living = made->living;
	connections->free_numbers = made->free_numbers;
	connections->max_active = max_active;
	make_pools(made, max_active);
	CHECK_EQUAL(connection_wheel_create(&connections->wheel, max_active + 2), 0);
	connections_clear(connections);
	return made;
}

static void unmake(struct made *made)
{
	connection_wheel_free(&made->connections.wheel, made->connections.max_active + 2);
	connection_ports_free(&made->connections.client_ports);
	for (unsigned i = 0; i < 2; i++)
		connection_pool_free(&made->clients[i]);
	free(made);
}

/* Sends what is due until `clocks`; each must be due, and not be late by more than a step. */
static unsigned run(struct connections *connections, uint64_t from, uint64_t clocks)
{
	const uint64_t step = 1u << (CONNECTION_TICK_BITS + 3);
	uint32_t numbers[8];
	unsigned sent = 0, count;

	for (uint64_t now = from; now < clocks; now += step)
		while ((count = connections_due(connections, now, numbers, 8)) > 0)
			for (unsigned i = 0; i < count; i++, sent++) {
				uint64_t due = connections->living[numbers[i]].due;

				CHECK(due <= now);
				CHECK(due + 2 * step > now);
				connections_sent_one(connections, numbers[i]);
			}
	return sent;
}

static void a_trial_sends_whole_connections(void)
{
	struct made *it = made(64);
	struct connections *connections = &it->connections;

	CHECK_EQUAL(connections_asked(connections, 1.0, 1.0), 10 * 3 + 20 * 2);
	connections_start(connections, 1.0, 1.0, HERTZ);
	run(connections, 0, (uint64_t)HERTZ);
	CHECK_EQUAL(it->templates[0].started, 10);
	CHECK_EQUAL(it->templates[1].started, 20);
	CHECK(it->templates[0].active > 0);
	run(connections, (uint64_t)HERTZ, (uint64_t)(1.5 * HERTZ));
	CHECK_EQUAL(connections->wheel.nb_waiting, 0);
	CHECK_EQUAL(it->templates[0].finished, 10);
	CHECK_EQUAL(it->templates[1].finished, 20);
	CHECK_EQUAL(connections_sent(connections, SIDE_CLIENT), 10 * 2 + 20);
	CHECK_EQUAL(connections_sent(connections, SIDE_SERVER), 10 + 20);
	CHECK_EQUAL(it->templates[0].bytes[SIDE_CLIENT], 10 * 2 * 64);
	CHECK_EQUAL(connections->nb_free, 64);
	CHECK_EQUAL(connections->client_ports.nb_used, 0);
	CHECK_EQUAL(connections->last_due, (uint64_t)(0.925 * HERTZ + HERTZ / 10 * 2));
	unmake(it);
}

static void what_cannot_start_is_counted_by_reason(void)
{
	struct made *it = made(2);

	it->templates[0].limit = 1;
	connections_start(&it->connections, 1.0, 1.0, HERTZ);
	run(&it->connections, 0, (uint64_t)(1.5 * HERTZ));
	CHECK(it->templates[0].not_started[NOT_STARTED_LIMIT] > 0);
	CHECK(it->templates[1].not_started[NOT_STARTED_FULL] > 0);
	CHECK_EQUAL(it->templates[0].started + it->templates[0].not_started[NOT_STARTED_LIMIT] +
			    it->templates[0].not_started[NOT_STARTED_FULL],
		10);
	CHECK_EQUAL(it->templates[1].started + it->templates[1].not_started[NOT_STARTED_FULL], 20);
	CHECK_EQUAL(it->templates[0].started, it->templates[0].finished);
	unmake(it);
}

static void a_cut_leaves_nothing_behind(void)
{
	struct made *it = made(64);

	connections_start(&it->connections, 1.0, 1.0, HERTZ);
	run(&it->connections, 0, (uint64_t)(0.5 * HERTZ));
	CHECK(it->templates[0].active > 0);
	CHECK_EQUAL(connections_active(&it->connections), 64 - it->connections.nb_free);
	connections_cut(&it->connections);
	CHECK_EQUAL(connections_active(&it->connections), 0);
	CHECK_EQUAL(it->templates[0].started, it->templates[0].finished + it->templates[0].cut);
	/* The worker's part ends here: it does not clear tables. */
	CHECK(it->connections.nb_free < 64);
	CHECK(it->connections.client_ports.nb_used > 0);
	connections_clear(&it->connections);
	CHECK_EQUAL(it->connections.nb_free, 64);
	CHECK_EQUAL(it->clients[0].nb_used + it->clients[1].nb_used, 0);
	CHECK_EQUAL(it->connections.client_ports.nb_used, 0);
	connections_start(&it->connections, 1.0, 1.0, HERTZ);
	run(&it->connections, 0, (uint64_t)(1.5 * HERTZ));
	CHECK_EQUAL(it->templates[1].cut + it->templates[1].finished, it->templates[1].started);
	CHECK_EQUAL(it->connections.nb_free, 64);
	unmake(it);
}

/* Successive connections of a template have one client, as with TRex's `w`. */
static void weight_gives_a_client_several_in_turn(void)
{
	struct made *it = made(64);
	uint32_t numbers[1], clients[6];
	unsigned count = 0;

	it->templates[1].cps = 1e-6;
	connections_start(&it->connections, 1.0, 1.0, HERTZ);
	for (uint64_t now = 0; now < (uint64_t)HERTZ && count < 6; now += 1000) {
		uint32_t last = it->connections.nb_free;

		if (connections_due(&it->connections, now, numbers, 1) == 0)
			continue;
		if (it->connections.nb_free < last)
			clients[count++] = it->living[numbers[0]].words.client;
		connections_sent_one(&it->connections, numbers[0]);
	}
	CHECK_EQUAL(count, 6);
	for (unsigned i = 0; i < 6; i += 2) {
		CHECK_EQUAL(clients[i], clients[i + 1]);
		CHECK_EQUAL(rte_be_to_cpu_32(clients[i]), 100 + i / 2);
	}
	unmake(it);
}

/* Each template's connections have clients of its own pool, and all of them have their turn. */
static void templates_have_pools(void)
{
	struct made *it = made(64);
	struct connections *connections = &it->connections;
	unsigned clients[400] = {0}, servers[400] = {0};
	uint32_t numbers[1];

	connections_start(connections, 1.0, 1.0, HERTZ);
	for (uint64_t now = 0; now < (uint64_t)(1.5 * HERTZ); now += 1u << CONNECTION_TICK_BITS)
		while (connections_due(connections, now, numbers, 1) > 0) {
			const struct connection *connection = &connections->living[numbers[0]];
			uint32_t client = rte_be_to_cpu_32(connection->words.client);
			const struct connection_pool *pool = &it->clients[connection->template];

			CHECK(client >= pool->addresses.min && client <= pool->addresses.max);
			if (connection->packet ==
				it->templates[connection->template].first_packet) {
				clients[client]++;
				servers[rte_be_to_cpu_32(connection->words.server)]++;
			}
			connections_sent_one(connections, numbers[0]);
		}
	for (unsigned i = 100; i < 105; i++)
		CHECK_EQUAL(clients[i], 2);
	CHECK_EQUAL(clients[300], 10);
	CHECK_EQUAL(clients[301], 10);
	for (unsigned i = 200; i < 203; i++)
		CHECK_EQUAL(servers[i], 10);
	CHECK_EQUAL(it->clients[0].nb_used + it->clients[1].nb_used, 0);
	unmake(it);
}

static void parse(const struct config_node *node)
{
	struct connections *connections = connections_parse(node);

	if (connections != NULL)
		connections_free(connections);
}

static unsigned mistakes_of(const char *text)
{
	return config_mistakes_in(text, parse);
}

/* No port is there: two mistakes that all have. */
#define ENDS \
	"\"client_port\": \"t0\", \"server_port\": \"t1\", \"client_macs\": {\"dst\": " \
	"\"02:00:00:00:0e:00\"}, \"server_macs\": {\"dst\": \"02:00:00:00:0e:01\"}"
#define POOLS \
	", \"clients\": {\"min\": \"16.0.0.1\", \"max\": \"16.0.0.9\"}, \"servers\": {\"min\": " \
	"\"48.0.0.1\", \"max\": \"48.0.0.1\"}"
/* Clients of two pools. */
#define NAMED(first, second) \
	", \"clients\": [{\"name\": \"" first \
	"\", \"min\": \"16.0.0.1\", \"max\": \"16.0.0.9\"}, " \
	"{\"name\": \"" second "\", \"min\": \"17.0.0.1\", \"max\": \"17.0.0.9\"}]" \
	", \"servers\": {\"min\": \"48.0.0.1\", \"max\": \"48.0.0.1\"}"
/* Together one more than there may be. */
#define TWO_HALVES \
	"{\"name\": \"a\", \"min\": \"16.0.0.0\", \"max\": \"16.127.255.255\"}, " \
	"{\"name\": \"b\", \"min\": \"17.0.0.0\", \"max\": \"17.128.0.0\"}"
#define FRAME \
	"0200000000010200000000020800450000200001000040110000" \
	"0a0000010a000002c35000350000000068656c6f"
#define PACKETS ", \"packets\": [{\"frame\": \"" FRAME "\"}]"
#define TEMPLATES(more) ", \"templates\": [{\"cps\": 5" more "}]"

static void mistakes_are_found(void)
{
	static const char *const texts[] = {
		"{" ENDS "}",
		"{" ENDS POOLS "}",
		"{" ENDS POOLS ", \"templates\": []}",
		"{" ENDS POOLS TEMPLATES("") "}",
		"{" ENDS POOLS TEMPLATES(", \"packets\": []") "}",
		"{" ENDS POOLS TEMPLATES(", \"packets\": [{\"frame\": \"0\"}]") "}",
		"{" ENDS POOLS TEMPLATES(", \"packets\": [{\"frame\": \"zz\"}]") "}",
		"{" ENDS POOLS TEMPLATES(", \"packets\": [{\"frame\": \"0011\"}]") "}",
		"{" ENDS POOLS TEMPLATES(PACKETS ", \"weight\": 0") "}",
		"{" ENDS POOLS TEMPLATES(PACKETS ", \"server\": 5") "}",
		"{" ENDS POOLS ", \"order\": \"sideways\"" TEMPLATES(PACKETS) "}",
		"{" ENDS POOLS
		", \"client_ports\": {\"min\": 9, \"max\": 8}" TEMPLATES(PACKETS) "}",
		"{" ENDS ", \"clients\": {\"min\": \"16.0.0.9\", \"max\": \"16.0.0.1\"}}",
		"{\"order\": \"random\"" POOLS TEMPLATES(PACKETS) "}",
		"{" ENDS POOLS ", \"ip6_prefixes\": []" TEMPLATES(PACKETS) "}",
		"{" ENDS POOLS
		", \"ip6_prefixes\": {\"clients\": \"16.0.0.1\"}" TEMPLATES(PACKETS) "}",
		"{" ENDS POOLS
		", \"ip6_prefixes\": {\"servers\": \"fe80::1\"}" TEMPLATES(PACKETS) "}",
		"{" ENDS POOLS ", \"ip6_prefixes\": {\"ports\": \"fe80::\"}" TEMPLATES(PACKETS) "}",
		"{" ENDS NAMED("a", "a") TEMPLATES(PACKETS) "}",
		"{" ENDS NAMED("", "b") TEMPLATES(PACKETS) "}",
		"{" ENDS NAMED("a", "b\", \"order\": \"sideways") TEMPLATES(PACKETS) "}",
		"{" ENDS NAMED("a", "b\", \"ports\": \"no") TEMPLATES(PACKETS) "}",
		"{" ENDS NAMED("a", "b") TEMPLATES(PACKETS ", \"client_pool\": \"c\"") "}",
		"{" ENDS NAMED("a", "b") TEMPLATES(PACKETS ", \"server_pool\": \"a\"") "}",
		"{" ENDS ", \"clients\": [], \"servers\": []" TEMPLATES(PACKETS) "}",
		"{" ENDS ", \"clients\": [" TWO_HALVES "], \"servers\": [" TWO_HALVES
		"]" TEMPLATES(PACKETS) "}",
	};
	unsigned without = mistakes_of("{" ENDS POOLS TEMPLATES(PACKETS) "}");

	CHECK_EQUAL(without, 2);
	CHECK_EQUAL(mistakes_of("{" ENDS NAMED("a", "b\", \"order\": \"random")
				    TEMPLATES(PACKETS ", \"client_pool\": \"b\"") "}"),
		without);
	for (unsigned i = 0; i < RTE_DIM(texts); i++)
		CHECK(mistakes_of(texts[i]) > without);
}

static const struct test_case cases[] = {
	{"the wheel keeps time", the_wheel_keeps_time},
	{"the wheel takes the late", the_wheel_takes_the_late},
	{"a trial sends whole connections", a_trial_sends_whole_connections},
	{"what cannot start is counted by reason", what_cannot_start_is_counted_by_reason},
	{"a cut leaves nothing behind", a_cut_leaves_nothing_behind},
	{"weight gives a client several in turn", weight_gives_a_client_several_in_turn},
	{"templates have pools", templates_have_pools},
	{"mistakes are found", mistakes_are_found},
};
TEST_MAIN(cases)
