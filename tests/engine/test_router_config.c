/* SPDX-License-Identifier: BSD-3-Clause */
/* The "router" object of the configuration file, right and wrong. */
#include "harness.h"

#include "core/config.h"
#include "modes/forwarder.h"
#include "router/interface.h"
#include "router/orders.h"

#include <fcntl.h>

static char complaints[8192];

/* Reads the router object in a process of its own; returns the number of mistakes. */
static unsigned mistakes_in(const char *router)
{
	char text[4096];
	int pipe_ends[2], status = 0;
	ssize_t got, length = 0;
	pid_t child;

	snprintf(text, sizeof(text),
		"{\"ports\": [{\"name\": \"e0\", \"driver\": \"test\"},"
		"{\"name\": \"e1\", \"driver\": \"test\"}],"
		"\"forwarder\": {\"mode\": \"router\", \"ports\": [\"e0\", \"e1\"], \"router\": "
		"%s}}",
		router);
	CHECK(pipe(pipe_ends) == 0);
	child = fork();
	if (child == 0) {
		struct config config;
		struct config_node root, node;

		dup2(pipe_ends[1], STDERR_FILENO);
		if (config_open_text(&config, "/tmp/router.json", text) != 0)
			_exit(99);
		root = config_root(&config);
		node = config_child(&root, "ports");
		ports_parse(&node);
		node = config_child(&root, "forwarder");
		forwarder_parse(&node);
		_exit((int)config.mistakes);
	}
	close(pipe_ends[1]);
	while ((got = read(pipe_ends[0], complaints + length,
			sizeof(complaints) - 1 - (size_t)length)) > 0)
		length += got;
	complaints[length] = '\0';
	close(pipe_ends[0]);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return (unsigned)WEXITSTATUS(status);
}

static const char right[] =
	"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"100.64.1.1/30\"], \"mpls\": true},"
	"{\"port\": \"e1\", \"addresses\": [\"100.64.2.1/30\", \"10.9.9.9/31\"]}],"
	"\"routes\": [{\"prefix\": \"16.0.0.0/24\", \"via\": \"100.64.1.2\", \"port\": \"e0\"},"
	"{\"prefix\": \"0.0.0.0/0\", \"via\": \"100.64.2.2\"}],"
	"\"neighbors\": [{\"port\": \"e0\", \"address\": \"100.64.1.2\","
	"\"mac\": \"50:7c:6f:20:30:70\"}],"
	"\"mpls\": [{\"label\": 16, \"eos\": true, \"via\": \"100.64.2.2\", \"port\": \"e1\","
	"\"out_labels\": [17]}, {\"label\": 17, \"eos\": false}]}";

static const char several_paths[] =
	"{\"mpls_ttl\": \"pipe\", \"interfaces\": [{\"port\": \"e0\", \"addresses\":"
	"[\"100.64.1.1/30\"]}], \"routes\": [{\"prefix\": \"16.0.0.0/24\", \"paths\": ["
	"{\"via\": \"100.64.1.2\", \"weight\": 2, \"out_labels\": [100, 200]},"
	"{\"via\": \"100.64.2.2\", \"port\": \"e1\"}]}],"
	"\"mpls\": [{\"label\": 16, \"paths\": [{\"via\": \"100.64.1.2\"},"
	"{\"via\": \"100.64.2.2\", \"port\": \"e1\", \"out_labels\": [3]}]}]}";

static const char both_families[] =
	"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"100.64.1.1/30\","
	"\"2001:db8:0:1::1/64\"]}], \"routes\": ["
	"{\"prefix\": \"2001:db8:16::/48\", \"via\": \"2001:db8:0:1::2\"},"
	"{\"prefix\": \"::/0\", \"via\": \"fe80::2\", \"port\": \"e0\"}], \"neighbors\": ["
	"{\"port\": \"e0\", \"address\": \"2001:db8:0:1::2\", \"mac\": \"50:7c:6f:20:30:70\"}]}";

static void as_documented(void)
{
	CHECK_EQUAL(mistakes_in(both_families), 0);
	CHECK(complaints[0] == '\0');
	CHECK_EQUAL(mistakes_in(right), 0);
	CHECK(complaints[0] == '\0');
	CHECK_EQUAL(mistakes_in(several_paths), 0);
	CHECK(complaints[0] == '\0');
	CHECK_EQUAL(mistakes_in("{}"), 0);
	CHECK_EQUAL(mistakes_in("{\"cli\": \"set int state e0 up\\n\"}"), 0);
}

static void each_mistake_is_one_line(void)
{
	static const struct {
		const char *router, *complaint;
	} rows[] = {
		{"[]", "forwarder.router: expected an object"},
		{"{\"route\": []}", "forwarder.router.route: unknown key"},
		{"{\"interfaces\": {}}", "forwarder.router.interfaces: expected an array"},
		{"{\"interfaces\": [7]}", "forwarder.router.interfaces[0]: expected an object"},
		{"{\"interfaces\": [{}]}", "interfaces[0].port: expected a string, found nothing"},
		{"{\"interfaces\": [{\"port\": \"e9\"}]}",
			"expected one of the router's interfaces"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4\"]}]}",
			"interfaces[0].addresses[0]: expected an IPv4 prefix"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4/0\"]}]}",
			"expected a prefix length from 1 to 32"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"225.2.3.4/8\"]}]}",
			"expected a unicast address"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.255/24\"]}]}",
			"that is the subnet's own or its broadcast address"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4/8\", "
		 "\"1.2.3.4/9\"]}]}",
			"an interface has that address already"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4/8\"]},"
		 "{\"port\": \"e1\", \"addresses\": [\"1.3.3.4/24\"]}]}",
			"that subnet overlaps with another interface's"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"2.2.2.2\"}]}",
			"routes[0]: the next hop is on no interface's subnet"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\"}]}",
			"routes[0].via: expected an IPv4 or IPv6 address, found nothing"},
		{"{\"routes\": [{\"via\": \"1.0.0.0\", \"port\": \"e0\"}]}",
			"routes[0].prefix: expected an IPv4 prefix"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4/8\"]}],"
		 "\"routes\": [{\"prefix\": \"9.0.0.0/8\", \"via\": \"1.2.3.4\"}]}",
			"the next hop is the router itself"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"addresses\": [\"1.2.3.4/8\"]}],"
		 "\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"1.2.3.5\"}]}",
			"the prefix is an interface's own subnet or address"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 0}]}",
			"interfaces[0].vlan: expected a whole number from 1 to 4094"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 4095}]}",
			"interfaces[0].vlan: expected a whole number from 1 to 4094"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 1, \"inner_vlan\": 4095}]}",
			"interfaces[0].inner_vlan: expected a whole number from 1 to 4094"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"inner_vlan\": 7}]}",
			"interfaces[0].vlan: expected the VLAN id of the outer tag, found nothing"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"dot1ad\": true}]}",
			"interfaces[0].vlan: expected the VLAN id of the outer tag, found nothing"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 7}, {\"port\": \"e1\", \"vlan\": "
		 "7},"
		 "{\"port\": \"e0\", \"vlan\": 7}]}",
			"interfaces[2].vlan: a sub-interface of that port has that VLAN already"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 7, \"inner_vlan\": 1},"
		 "{\"port\": \"e0\", \"vlan\": 7, \"inner_vlan\": 1}]}",
			"interfaces[1].vlan: a sub-interface of that port has that VLAN already"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 7},"
		 "{\"port\": \"e0\", \"vlan\": 7, \"dot1ad\": true}]}",
			"interfaces[1].vlan: an interface has that name already"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"vlan\": 7}, {\"port\": \"e0.7\", "
		 "\"vlan\": 8}]}",
			"interfaces[1].vlan: a sub-interface has none of its own: expected a port"},
		{"{\"interfaces\": [{\"port\": \"e0.7\"}, {\"port\": \"e0\", \"vlan\": 7}]}",
			"interfaces[0].port: expected one of the router's interfaces"},
		{"{\"cli\": \"set int state e0.7 up\\ncreate sub-interfaces e0 7\"}",
			"router.cli:1: that is none of the router's interfaces"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"mtu\": 67}]}",
			"interfaces[0].mtu: expected a whole number from 68"},
		{"{\"interfaces\": [{\"port\": \"e0\", \"mtu\": 1501}]}",
			"interfaces[0].mtu: the MTU is more than the port's max_frame_bytes "
			"allows"},
		{"{\"cli\": \"set int mtu 67 e0\"}",
			"router.cli:1: expected an MTU of at least 68"},
		{"{\"cli\": \"set int mtu packet 1501 e0\"}", "router.cli:1: the MTU is more than"},
		{"{\"cli\": \"set int mtu 1500 e9\"}",
			"router.cli:1: that is none of the router's"},
		{"{\"cli\": \"create sub e0 7\\ncreate sub e0 8 dot1q 7 exact-match\"}",
			"router.cli:2: a sub-interface of that port has that VLAN already"},
		{"{\"neighbors\": [{\"port\": \"e0\", \"address\": \"1.2.3.4\"}]}",
			"neighbors[0].mac: expected a MAC address, found nothing"},
		{"{\"neighbors\": [{\"port\": \"e0\", \"address\": \"1.2.3.4\","
		 "\"mac\": \"ff:ff:ff:ff:ff:ff\"}]}",
			"expected the MAC address of one station"},
		{"{\"mpls\": [{\"via\": \"1.1.1.1\", \"port\": \"e0\"}]}",
			"mpls[0].label: expected a label from 16"},
		{"{\"mpls\": [{\"label\": 3}]}", "mpls[0].label: expected a whole number from 16"},
		{"{\"mpls\": [{\"label\": 16, \"via\": \"1.1.1.1\", \"port\": \"e0\","
		 "\"out_labels\": [1048576]}]}",
			"mpls[0].out_labels[0]: expected a label from 0"},
		{"{\"mpls\": [{\"label\": 16, \"out_labels\": [9]}]}",
			"mpls[0].via: expected the next hop"},
		{"{\"mpls_ttl\": \"short\"}",
			"forwarder.router.mpls_ttl: expected \"uniform\" or \"pipe\""},
		{"{\"mpls_ttl\": 7}", "forwarder.router.mpls_ttl: expected a string"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"paths\": []}]}",
			"routes[0].paths: expected one path at least"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"paths\": 7}]}",
			"routes[0].paths: expected an array"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"paths\": [7]}]}",
			"routes[0].paths[0]: expected an object"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"1.1.1.1\","
		 "\"paths\": [{\"via\": \"1.1.1.1\", \"port\": \"e0\"}]}]}",
			"routes[0].paths: expected this or \"via\", found both"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\","
		 "\"paths\": [{\"via\": \"1.1.1.1\", \"port\": \"e0\"}, {\"port\": \"e0\"}]}]}",
			"routes[0].paths[1].via: expected an IPv4 or IPv6 address, found nothing"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\","
		 "\"paths\": [{\"via\": \"1.1.1.1\", \"port\": \"e0\", \"cost\": 7}]}]}",
			"routes[0].paths[0].cost: unknown key"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"1.1.1.1\", \"port\": \"e0\","
		 "\"weight\": 0}]}",
			"routes[0].weight: expected a whole number from 1 to 255"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"1.1.1.1\", \"port\": \"e0\","
		 "\"out_labels\": [1, 2, 3]}]}",
			"routes[0]: label 3, implicit null, is never in a stack"},
		{"{\"routes\": [{\"prefix\": \"1.0.0.0/8\", \"via\": \"1.1.1.1\", \"port\": \"e0\","
		 "\"out_labels\": [1, 2, 0, 4, 5, 6, 7, 8, 9]}]}",
			"routes[0].out_labels: at most 8 labels"},
		{"{\"routes\": [{\"prefix\": \"2001:db8::/32\", \"via\": \"fe80::2\", \"port\": "
		 "\"e0\","
		 "\"weight\": 2}]}",
			"routes[0]: an IPv6 route has one next hop, without labels"},
		{"{\"mpls\": [{\"label\": 16, \"paths\": [{\"port\": \"e0\"}]}]}",
			"mpls[0].paths[0].via: expected an IPv4 or IPv6 address"},
		{"{\"cli\": \"\\nset int state e7 up\"}",
			"/tmp/router.json: forwarder.router.cli:2: that is none of the router's "
			"interfaces"},
		{"{\"cli\": \"ip route add 1.0.0.0/8 via 2.2.2.2\"}",
			"forwarder.router.cli:1: the next hop is on no interface's subnet"},
		{"{\"cli_file\": \"no such file\"}", "cannot read /tmp/no such file: No such file"},
	};

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		CHECK_EQUAL(mistakes_in(rows[i].router), 1);
		CHECK(strncmp(complaints, "/tmp/router.json: ", 18) == 0);
		CHECK(strchr(complaints, '\n') == complaints + strlen(complaints) - 1);
		if (strstr(complaints, rows[i].complaint) == NULL) {
			fprintf(stderr, "%s gives %s", rows[i].router, complaints);
			CHECK(false);
		}
	}
}

static void file_beside_the_configuration(void)
{
	char name[] = "/tmp/linerate-test-XXXXXX", router[128];
	int file = mkstemp(name);
	size_t length = strlen(harness_router_cli);

	CHECK(file >= 0 && write(file, harness_router_cli, length) == (ssize_t)length);
	close(file);
	snprintf(router, sizeof(router), "{\"cli_file\": \"%s\"}", name + strlen("/tmp/"));
	CHECK_EQUAL(mistakes_in(router), 0);
	CHECK(complaints[0] == '\0');
	unlink(name);
}

static const struct test_case cases[] = {
	{"as documented", as_documented},
	{"each mistake is one line", each_mistake_is_one_line},
	{"a CLI file beside the configuration", file_beside_the_configuration},
};
TEST_MAIN(cases)
