/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of VPP's CLI text. */
#include "router/cli.h"
#include "test.h"

#include <rte_ip.h>

#define ORDERS_MAX 64

static struct router_order orders[ORDERS_MAX];
static unsigned nb_orders;
static char complaints[65536];

static const char *keep(void *context, const struct router_order *order)
{
	(void)context;
	if (nb_orders < ORDERS_MAX)
		orders[nb_orders++] = *order;
	return NULL;
}

static unsigned parse_bytes(const char *text, size_t length)
{
	FILE *file = fmemopen(complaints, sizeof(complaints), "w");
	unsigned mistakes;

	nb_orders = 0;
	complaints[0] = '\0';
	mistakes = cli_parse("router.vpp", text, length, keep, NULL, file);
	fclose(file);
	return mistakes;
}

static unsigned parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static const char as_people_have_it[] =
	"set int state e0 up\n"
	"set int state e1 up\n"
	"set int ip address e0 100.64.1.1/30\n"
	"set int ip address e1 100.64.2.1/30\n"
	"ip route add 16.0.0.0/24 via 100.64.1.2\n"
	"ip route add 48.0.0.0/24 via 100.64.2.2\n"
	"ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\n"
	"ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n"
	"mpls table add 0\n"
	"set interface mpls e0 enable\n"
	"set interface mpls e1 enable\n"
	"mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17\n"
	"mpls local-label add 17 eos via 100.64.1.2 e0 out-labels 16\n";

static void check_orders(void)
{
	static const uint8_t kinds[] = {ORDER_INTERFACE_STATE, ORDER_INTERFACE_STATE,
		ORDER_INTERFACE_ADDRESS, ORDER_INTERFACE_ADDRESS, ORDER_ROUTE_ADD, ORDER_ROUTE_ADD,
		ORDER_NEIGHBOR, ORDER_NEIGHBOR, ORDER_INTERFACE_MPLS, ORDER_INTERFACE_MPLS,
		ORDER_LABEL_ADD, ORDER_LABEL_ADD};

	CHECK_EQUAL(nb_orders, sizeof(kinds));
	for (unsigned i = 0; i < nb_orders; i++)
		CHECK_EQUAL(orders[i].kind, kinds[i]);
	CHECK(orders[0].on && strcmp(orders[0].interface, "e0") == 0);
	CHECK_EQUAL(orders[2].address.ip4, RTE_IPV4(100, 64, 1, 1));
	CHECK_EQUAL(orders[2].length, 30);
	CHECK_EQUAL(orders[5].address.ip4, RTE_IPV4(48, 0, 0, 0));
	CHECK_EQUAL(orders[5].length, 24);
	CHECK_EQUAL(orders[5].via.ip4, RTE_IPV4(100, 64, 2, 2));
	CHECK_EQUAL(orders[7].mac.addr_bytes[5], 0x71);
	CHECK_EQUAL(orders[10].number, 16);
	CHECK(orders[10].on && strcmp(orders[10].interface, "e1") == 0);
	CHECK_EQUAL(orders[10].nb_labels, 1);
	CHECK_EQUAL(orders[10].labels[0], 17);
	CHECK_EQUAL(orders[10].line, 12);
}

static void as_it_is(void)
{
	CHECK_EQUAL(parse(as_people_have_it), 0);
	check_orders();
}

static void with_carriage_returns(void)
{
	char text[2 * sizeof(as_people_have_it)];
	char *to = text;

	for (const char *from = as_people_have_it; *from != '\0'; from++) {
		if (*from == '\n')
			*to++ = '\r';
		*to++ = *from;
	}
	*to = '\0';
	CHECK_EQUAL(parse(text), 0);
	check_orders();
}

static void labels_taken_off(void)
{
	CHECK_EQUAL(parse("mpls local-label add 16 eos via 100.64.2.2 e1\n"
			  "mpls local-label add 17 non-eos via 100.64.1.2 e0 out-labels 18 19 20\n"
			  "mpls local-label add 18 eos via ip4-lookup-in-table 0\n"
			  "mpls local-label add 19 non-eos via mpls-lookup-in-table 0\n"
			  "mpls local-label del 16 eos"),
		0);
	CHECK_EQUAL(nb_orders, 5);
	CHECK_EQUAL(orders[0].nb_labels, 0);
	CHECK_EQUAL(orders[1].nb_labels, 3);
	CHECK(!orders[1].on && orders[1].labels[2] == 20);
	CHECK(orders[2].lookup && orders[3].lookup);
	CHECK_EQUAL(orders[4].kind, ORDER_LABEL_DELETE);
}

static void abbreviations_and_comments(void)
{
	CHECK_EQUAL(parse("# a comment\n\n   \t \n"
			  "s i s e0 u # up\n"
			  "se inter ip addr e0 10.0.0.1/8#comment\n"
			  "ip ro a 10.0.0.0/8 v 1.2.3.4 e0\n"
			  "ip r d 10.0.0.0/8 via 1.2.3.4 e0\n"
			  "ip n e0 1.2.3.4 2:0:0:0:0:zz\n"
			  "m l a 99 n v 1.2.3.4 e0 out 3"),
		2);
	/* '#' ends a word only after a space, as in VPP; a MAC address has two digits each. */
	CHECK(strstr(complaints, "router.vpp:5: expected a prefix") != NULL);
	CHECK_EQUAL(nb_orders, 4);
	CHECK_EQUAL(orders[0].kind, ORDER_INTERFACE_STATE);
	CHECK_EQUAL(orders[1].kind, ORDER_ROUTE_ADD);
	CHECK_EQUAL(orders[2].kind, ORDER_ROUTE_DELETE);
}

/* Each path is an order of its own. */
static void several_paths(void)
{
	CHECK_EQUAL(parse("ip route add 10.0.0.0/8 via 1.1.1.1 e0 weight 2 via 2.2.2.2 e1\n"
			  "ip route add 10.0.0.0/8 via 1.1.1.1 out-labels 100 200 weight 3 "
			  "via 2.2.2.2 e1 out-l 3\n"
			  "ip route del 10.0.0.0/8\n"
			  "ip route del 10.0.0.0/8 via 1.1.1.1 e0\n"
			  "mpls local-label add 18 eos via 1.1.1.1 e0 out-labels 100 "
			  "via 2.2.2.2 out-labels 200\n"
			  "mpls local-label del 18 eos via 2.2.2.2\n"
			  "mpls local-label del 18 eos via ip4-lookup-in-table 0\n"),
		0);
	CHECK_EQUAL(nb_orders, 10);
	CHECK(orders[0].weight == 2 && strcmp(orders[0].interface, "e0") == 0);
	CHECK(orders[1].weight == 0 && strcmp(orders[1].interface, "e1") == 0);
	CHECK_EQUAL(orders[1].address.ip4, RTE_IPV4(10, 0, 0, 0));
	CHECK(orders[2].weight == 3 && orders[2].nb_labels == 2 && orders[2].labels[1] == 200);
	CHECK(orders[2].interface[0] == '\0');
	CHECK(orders[3].nb_labels == 1 && orders[3].labels[0] == 3);
	CHECK(orders[4].kind == ORDER_ROUTE_DELETE && !orders[4].one_path);
	CHECK(orders[5].one_path && orders[5].via.ip4 == RTE_IPV4(1, 1, 1, 1));
	CHECK(orders[6].on && orders[7].on && orders[7].labels[0] == 200);
	CHECK_EQUAL(orders[7].number, 18);
	CHECK(orders[8].kind == ORDER_LABEL_DELETE && orders[8].one_path);
	CHECK(!orders[9].one_path);
}

#define WORDS_8 "1 2 3 4 5 6 7 8 "
#define WORDS_32 WORDS_8 WORDS_8 WORDS_8 WORDS_8

static void mistakes(void)
{
	static const struct {
		const char *text, *complaint;
	} rows[] = {
		{"sett int", "expected 'create', 'enable', 'ip', 'mpls', 'set', found 'sett'"},
		{"set", "expected 'interface', 'urpf', found the end of the line"},
		{"ip route", "expected 'add', 'del', 'replace', found the end of the line"},
		{"set int state", "expected the name of an interface, found the end of the line"},
		{"set int state e0 sideways", "expected 'up', 'down', found 'sideways'"},
		{"set int state e0 up now", "expected the end of the line, found 'now'"},
		{"set int ip address e0 10.0.0.1", "expected a prefix such as"},
		{"set int ip address e0 10.0.0.1/33", "expected a prefix such as"},
		{"set int ip address e0 10.0.0.1/", "expected a prefix such as"},
		{"set int ip address e0 10.0.0.1/-1", "expected a prefix such as"},
		{"set int ip address e0 10.0.0/8", "expected a prefix such as"},
		{"create sub-interfaces e0", "expected a number, which is the VLAN id"},
		{"create sub-interfaces e0 0", "expected 'dot1q' or 'dot1ad'"},
		{"create sub-interfaces e0 4095", "expected 'dot1q' or 'dot1ad'"},
		{"create sub-interfaces e0 1 dot1x 2", "expected 'dot1q', 'dot1ad', found 'dot1x'"},
		{"create sub-interfaces e0 1 dot1q 0",
			"expected a VLAN id from 1 to 4094, found '0'"},
		{"create sub-interfaces e0 1 dot1q 2", "expected 'exact-match', 'inner-dot1q'"},
		{"create sub-interfaces e0 1 dot1q 2 inner 4095", "expected a VLAN id from 1 to"},
		{"create sub-interfaces e0 1 dot1ad 2 inner 7", "expected 'exact-match'"},
		{"set int mtu ip4 1400 e0", "expected 'packet', found 'ip4'"},
		{"set int mtu packet e0", "expected an MTU such as 1500, found 'e0'"},
		{"set int mtu 65536 e0", "expected 'packet', found '65536'"},
		{"set int mtu 1400", "expected the name of an interface"},
		{"ip route add 1.0.0.0/8", "expected 'via', found the end of the line"},
		{"ip route add 1.0.0.0/8 via e0", "expected an address such as"},
		{"ip neighbor e0 1.1.1.1 zz", "expected a MAC address such as"},
		{"mpls table add 1", "expected 0, the only table, found '1'"},
		{"mpls local-label add 15 eos via 1.1.1.1 e0", "expected a label from 16"},
		{"mpls local-label add 1048576 eos via 1.1.1.1 e0", "expected a label from 16"},
		{"mpls local-label add 16 both via 1.1.1.1 e0", "expected 'eos', 'non-eos'"},
		{"mpls local-label add 16 eos via 1.1.1.1 e0 out-labels",
			"expected a label from 0"},
		{"mpls local-label add 16 eos via 1.1.1.1 e0 out-labels 1 2 3 4 5 6 7 8 9",
			"at most 8 out-labels"},
		{"ip route add 99999999999999999999999999999999999999999999999999999999999999999/8",
			"a word of more than 63 letters"},
		{"ip route add 1.0.0.0/8 via 1.1.1.1 weight 0", "expected a weight from 1 to 255"},
		{"ip route add 1.0.0.0/8 via 1.1.1.1 weight 256",
			"expected a weight from 1 to 255"},
		{"ip route add 1.0.0.0/8 via 1.1.1.1 e0 heavy",
			"expected 'weight', 'out-labels', 'via', found 'heavy'"},
		{"ip route add 1.0.0.0/8 via 1.1.1.1 e0 out-labels 1048576",
			"expected a label from 0 to 1048575, found '1048576'"},
		{"ip route del 1.0.0.0/8 e0", "expected 'via', found 'e0'"},
		{"mpls local-label del 16 eos via e0", "expected an address such as"},
		{WORDS_32 WORDS_32 WORDS_32 WORDS_32 "1", "more than 128 words"},
		{"\x01\xff", "found '?"
			     "?'"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "\n# second line\r\n%s\nset int state e0 up",
			rows[i].text);
		CHECK_EQUAL(parse(text), 1);
		CHECK_EQUAL(nb_orders, 1);
		CHECK(strncmp(complaints, "router.vpp:3: ", 14) == 0);
		CHECK(strchr(complaints, '\n') == complaints + strlen(complaints) - 1);
		if (strstr(complaints, rows[i].complaint) == NULL) {
			fprintf(stderr, "'%s' gives %s", rows[i].text, complaints);
			CHECK(false);
		}
	}
}

static void garbage(void)
{
	static const char *const words[] = {"set", "int", "state", "ip", "route", "add", "del",
		"via", "mpls", "local-label", "table", "e0", "1.2.3.4", "1.2.3.4/8", "16", "eos",
		"non-eos", "out-labels", "weight", "neighbor", "address", "up", "enable", "#", "\n",
		"\r\n", "\t", "\xff"};
	unsigned seed = 1;

	for (unsigned round = 0; round < 20000; round++) {
		char text[256];
		size_t length = 0;

		if (round % 2 == 0) {
			length = (size_t)rand_r(&seed) % sizeof(text);
			for (size_t i = 0; i < length; i++)
				text[i] = (char)rand_r(&seed);
		} else {
			text[0] = '\0';
			for (unsigned i = 0; i < 12; i++) {
				strcat(text, words[(unsigned)rand_r(&seed) %
						     (sizeof(words) / sizeof(*words))]);
				strcat(text, " ");
			}
			length = strlen(text);
		}
		(void)parse_bytes(text, length);
	}
	CHECK(true);
}

static const struct test_case cases[] = {
	{"the file as people have it", as_it_is},
	{"the same with carriage returns", with_carriage_returns},
	{"labels that are taken off, looked up or pushed", labels_taken_off},
	{"several paths", several_paths},
	{"abbreviations and comments", abbreviations_and_comments},
	{"each mistake is one line that says what was expected", mistakes},
	{"random text", garbage},
};
TEST_MAIN(cases)
