/* SPDX-License-Identifier: BSD-3-Clause */
/* The plain file of routes. */
#include "router/routes_file.h"

#include "core/ip_address.h"
#include "test.h"

#include <arpa/inet.h>
#include <stdlib.h>

#define ORDERS_MAX 64

static struct router_order orders[ORDERS_MAX];
static unsigned nb_orders;

static const char *take(void *context, const struct router_order *order)
{
	(void)context;
	if (order->address.ip4 == 0x01010100 && order->length == 24)
		return "refused";
	orders[nb_orders++ % ORDERS_MAX] = *order;
	return NULL;
}

/* Mistakes reported for the text. */
static const char *complaints(const char *text, unsigned mistakes)
{
	static char report[4096];
	FILE *file = fmemopen(memset(report, 0, sizeof(report)), sizeof(report) - 1, "w");

	nb_orders = 0;
	CHECK_EQUAL(routes_file_parse("f", text, strlen(text), take, NULL, file), mistakes);
	fclose(file);
	return report;
}

static void routes(void)
{
	const char *report = complaints("# all forms\n"
					"\n"
					"0.0.0.0/0 100.64.2.2\n"
					"  10.1.2.3/8\t100.64.2.3   r1\t# by name\r\n"
					"255.255.255.255/32 1.2.3.4#end\n"
					"9.0.0.0/32 1.2.3.4 0123456789abcdefghijklm\n"
					"2001:db8::/32 fe80::1 r0",
		0);

	CHECK(strcmp(report, "") == 0);
	CHECK_EQUAL(nb_orders, 5);
	CHECK_EQUAL(orders[0].length, 0);
	CHECK_EQUAL(orders[0].via.ip4, 0x64400202);
	CHECK_EQUAL(orders[0].line, 3);
	CHECK(strcmp(orders[0].interface, "") == 0);
	CHECK_EQUAL(orders[1].address.ip4, 0x0a010203);
	CHECK(strcmp(orders[1].interface, "r1") == 0);
	CHECK_EQUAL(orders[2].address.ip4, UINT32_MAX);
	CHECK_EQUAL(orders[2].length, 32);
	CHECK_EQUAL(orders[3].line, 6);
	CHECK(strcmp(orders[3].interface, "0123456789abcdefghijklm") == 0);
	CHECK_EQUAL(orders[4].address.family, ADDRESS_IP6);
	CHECK_EQUAL(orders[4].address.ip6[0], 0x20);
	CHECK_EQUAL(orders[4].length, 32);
	CHECK_EQUAL(orders[4].via.ip6[15], 1);
	CHECK(strcmp(orders[4].interface, "r0") == 0);
}

static void mistakes(void)
{
	static const struct {
		const char *line, *wrong;
	} rows[] = {
		{"10.0.0.0/33 1.2.3.4", "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"10.0.0.0 1.2.3.4", "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"10.0.0/8 1.2.3.4", "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"10.0.0.0/ 1.2.3.4", "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"10.0.0.0/8x 1.2.3.4", "expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"2001:db8::/129 fe80::1",
			"expected a prefix such as 16.0.0.0/24 or 2001:db8::/32"},
		{"2001:db8::/32 fe80::g",
			"expected a next hop such as 100.64.1.2 after the prefix"},
		{"10.0.0.0/8", "expected a next hop such as 100.64.1.2 after the prefix"},
		{"10.0.0.0/8 1.2.3.400", "expected a next hop such as 100.64.1.2 after the prefix"},
		{"10.0.0.0/8 1.2.3.4 a b", "expected the end of the line"},
		{"10.0.0.0/8 1.2.3.4 0123456789abcdefghijklmnopqrstuvwxyz",
			"expected the name of an interface after the next hop"},
		{"1.1.1.0/24 1.2.3.4", "refused"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128], wanted[128];

		snprintf(text, sizeof(text), "\n%s\n", rows[i].line);
		snprintf(wanted, sizeof(wanted), "f:2: %s\n", rows[i].wrong);
		CHECK(strcmp(complaints(text, 1), wanted) == 0);
	}
}

static void many_mistakes(void)
{
	char text[200] = "";
	const char *report;
	unsigned lines = 0;

	for (unsigned i = 0; i < 25; i++)
		strcat(text, "x\n");
	report = complaints(text, 25);
	for (const char *at = report; *at != '\0'; at++)
		lines += *at == '\n';
	CHECK_EQUAL(lines, ROUTES_FILE_COMPLAINTS + 1);
	CHECK(strstr(report, "f: and 5 more mistakes\n") != NULL);
}

/* As inet_pton() reads them, also what is a little wrong. */
static void addresses(void)
{
	static const char letters[] = "0123456789.. ";
	unsigned seed = 5, good = 0;

	for (unsigned i = 0; i < 2000000; i++) {
		struct in_addr in;
		struct ip_address address;
		char text[24];
		const char *end;
		int length = snprintf(text, sizeof(text), "%u.%u.%u.%u", rand_r(&seed) % 270,
			rand_r(&seed) % 270, rand_r(&seed) % 12, rand_r(&seed) % 270);

		if (i % 2 == 0)
			text[rand_r(&seed) % (unsigned)length] =
				letters[rand_r(&seed) % (sizeof(letters) - 1)];
		end = address_read(text, text + length, &address);
		if ((end == text + length) != (inet_pton(AF_INET, text, &in) == 1))
			CHECK(false);
		if (end == text + length && ++good != 0 && address.ip4 != ntohl(in.s_addr))
			CHECK(false);
	}
	CHECK(good > 100000);
}

static const struct test_case cases[] = {
	{"routes", routes},
	{"mistakes", mistakes},
	{"limited number of lines about mistakes", many_mistakes},
	{"addresses as the C library reads them", addresses},
};
TEST_MAIN(cases)
