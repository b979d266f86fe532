/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mistake in a file gives one line: file, key, what was expected. */
#include "core/config.h"
#include "capture.h"
#include "test.h"

/* Runs `read` on the text and keeps what it says on standard error. */
static unsigned mistakes_of(const char *text, void (*read)(struct config_node *root))
{
	struct config config;
	unsigned mistakes = UINT32_MAX;

	capture_start();
	if (config_open_text(&config, "file.json", text) == 0) {
		struct config_node root = config_root(&config);

		read(&root);
		mistakes = config.mistakes;
		config_close(&config);
	}
	capture_end();
	return mistakes;
}

static void read_ring(struct config_node *root)
{
	struct config_node cards = config_child(root, "cards");

	for (size_t i = 0; i < config_items(&cards); i++) {
		static const char *const kinds[] = {"a", "b", NULL};
		struct config_node card = config_item(&cards, i);
		struct rte_ether_addr mac;

		config_known(&card, "ring", "mac", "on", "kind", "rate");
		config_u64(&card, "ring", 7, 1, 100);
		config_mac(&card, "mac", &mac);
		config_bool(&card, "on", false);
		config_choice(&card, "kind", kinds, 0);
		config_number(&card, "rate", 0, 0, 10);
	}
}

static void right_files_have_no_mistake(void)
{
	CHECK_EQUAL(mistakes_of("{\"cards\": [{\"ring\": 5, \"mac\": \"02:00:00:00:00:01\", "
				"\"on\": true, \"kind\": \"b\", \"rate\": 1.5}, {\"ring\": 1e1}]}",
			    read_ring),
		0);
	CHECK(printed[0] == '\0');
	CHECK_EQUAL(mistakes_of("{}", read_ring), 0);
}

static void one_line_each(void)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{"{\"cards\": [{}, {\"ring\": 101}]}",
			"file.json: cards[1].ring: expected a whole number from 1 to 100\n"},
		{"{\"cards\": [{\"ring\": 1.5}]}",
			"file.json: cards[0].ring: expected a whole number from 1 to 100\n"},
		{"{\"cards\": [{\"ring\": -1}]}",
			"file.json: cards[0].ring: expected a whole number from 1 to 100\n"},
		{"{\"cards\": [{\"ring\": \"7\"}]}",
			"file.json: cards[0].ring: expected a whole number from 1 to 100\n"},
		{"{\"cards\": [{\"mac\": \"02:00\"}]}",
			"file.json: cards[0].mac: expected a MAC address such as "
			"02:00:00:00:0e:00\n"},
		{"{\"cards\": [{\"on\": 1}]}", "file.json: cards[0].on: expected true or false\n"},
		{"{\"cards\": [{\"kind\": \"c\"}]}",
			"file.json: cards[0].kind: expected one of: a, b\n"},
		{"{\"cards\": [{\"rate\": 11}]}",
			"file.json: cards[0].rate: expected a number from 0 to 10\n"},
		{"{\"cards\": [{\"rign\": 5}]}",
			"file.json: cards[0].rign: unknown key, expected one of: ring, mac, on, "
			"kind, rate\n"},
		{"{\"cards\": {}}", "file.json: cards: expected an array, [ … ]\n"},
	};

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		CHECK_EQUAL(mistakes_of(rows[i].text, read_ring), 1);
		CHECK(strcmp(printed, rows[i].line) == 0);
		if (strcmp(printed, rows[i].line) != 0)
			fprintf(stderr, "printed: %s", printed);
	}
}

static void every_mistake_is_reported(void)
{
	CHECK_EQUAL(mistakes_of("{\"cards\": [{\"ring\": 0, \"on\": 3, \"x\": 1}]}", read_ring), 3);
}

static void broken_json_names_the_line(void)
{
	CHECK_EQUAL(mistakes_of("{\n\"cards\": [}\n", read_ring), UINT32_MAX);
	CHECK(strncmp(printed, "file.json: line 2, column ", 26) == 0);
	CHECK_EQUAL(mistakes_of("[]", read_ring), UINT32_MAX);
	CHECK_EQUAL(mistakes_of("", read_ring), UINT32_MAX);
}

static void read_prefix(struct config_node *root)
{
	struct config_node prefix = config_child(root, "p");
	struct ip_address address = {.family = ADDRESS_NONE};
	uint8_t length = 99;

	if (config_prefix(&prefix, &address, &length)) {
		CHECK_EQUAL(address.ip4, 0x10000000);
		CHECK_EQUAL(length, 24);
	}
}

static void prefixes(void)
{
	CHECK_EQUAL(mistakes_of("{\"p\": \"16.0.0.0/24\"}", read_prefix), 0);
	CHECK_EQUAL(mistakes_of("{\"p\": \"16.0.0.0/33\"}", read_prefix), 1);
	CHECK_EQUAL(mistakes_of("{\"p\": \"16.0.0.0/\"}", read_prefix), 1);
	CHECK_EQUAL(mistakes_of("{\"p\": \"16.0.0.0\"}", read_prefix), 1);
	CHECK_EQUAL(mistakes_of("{\"p\": \"16.0.0/24\"}", read_prefix), 1);
	CHECK_EQUAL(mistakes_of("{\"p\": 16}", read_prefix), 1);
	CHECK_EQUAL(
		mistakes_of("{\"p\": \"1111111111111111111111111111111111/1\"}", read_prefix), 1);
}

static const struct test_case cases[] = {
	{"right files have no mistake", right_files_have_no_mistake},
	{"one line each", one_line_each},
	{"every mistake is reported", every_mistake_is_reported},
	{"broken JSON names the line", broken_json_names_the_line},
	{"prefixes", prefixes},
};
TEST_MAIN(cases)
