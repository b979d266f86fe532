/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a virtual device are set, read back and reported; PAUSE counters are known by name.
 */
#include "port/ethdev_mac.h"
#include "port/ethdev_pause.h"
#include "port/ethdev_settings.h"
#include "test.h"
#include "eal.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

/* As drivers of DPDK name them. */
static void test_pause_names(void)
{
	static const char *const counters[] = {"rx_xon_packets", "rx_xoff_packets",
		"rx_pause_frames", "rx_pause", "rx_valid_pause", "mac.rx_pause_mac_ctrl_frames"};
	static const char *const others[] = {"rx_good_packets", "tx_xon_packets", "tx_xoff_packets",
		"tx_pause_frames", "rx_priority0_xon_packets", "rx_priority0_xoff_packets",
		"rx_pfc_frames", "rx_q0_packets", "rx_missed_errors", "rx_pause_duration_prio0",
		"rx_pause_transition"};

	for (unsigned i = 0; i < RTE_DIM(counters); i++)
		CHECK(ethdev_pause_is_counter(counters[i]));
	for (unsigned i = 0; i < RTE_DIM(others); i++)
		CHECK(!ethdev_pause_is_counter(others[i]));
}

static const char *actual(const struct ethdev_settings *settings, const char *name)
{
	for (unsigned i = 0; i < settings->report.count; i++)
		if (strcmp(settings->report.rows[i].name, name) == 0)
			return settings->report.rows[i].actual;
	return "missing";
}

static uint16_t device(const char *name, const char *devargs)
{
	uint16_t port_id = UINT16_MAX;
	struct rte_eth_conf conf = {0};

	CHECK(rte_eal_hotplug_add("vdev", name, devargs) == 0);
	CHECK(rte_eth_dev_get_port_by_name(name, &port_id) == 0);
	CHECK(rte_eth_dev_configure(port_id, 1, 1, &conf) == 0);
	return port_id;
}

static void test_settings_of_a_device_without_any(void)
{
	struct port port = {.name = "p0", .max_frame_bytes = 1518};
	struct ethdev_settings settings = {.flow_control = RTE_ETH_FC_NONE};
	uint16_t port_id = device("net_null0", "");

	CHECK_EQUAL(ethdev_settings_configure(&settings, &port, port_id), 0);
	ethdev_settings_start(&settings, &port, port_id);
	CHECK_EQUAL(settings.report.count, 6);
	CHECK(strcmp(actual(&settings, "lro"), "off") == 0);
	CHECK(strcmp(actual(&settings, "rx_checksum_offload"), "off") == 0);
	CHECK(strcmp(actual(&settings, "flow_control"), "none") == 0);
	settings.flow_control = RTE_ETH_FC_FULL;
	settings.report.count = 0;
	ethdev_settings_start(&settings, &port, port_id);
	CHECK(strcmp(actual(&settings, "flow_control"), "no flow control") == 0);
}

static void test_frames_longer_than_the_device_takes_are_refused(void)
{
	struct port port = {.name = "p0", .max_frame_bytes = 9218};
	struct rte_eth_dev_info info = {.max_mtu = 4000};
	struct rte_eth_conf conf = {.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO};

	CHECK_EQUAL(ethdev_settings_plan(&port, &info, &conf), (uint64_t)-EINVAL);
	info.max_mtu = 9200;
	CHECK_EQUAL(ethdev_settings_plan(&port, &info, &conf), 0);
	CHECK_EQUAL(conf.rxmode.offloads, 0);
}

static void test_address_is_set_and_given_back(void)
{
	const struct rte_ether_addr asked = {{2, 0, 0, 0, 0, 9}};
	struct port port = {.name = "p1", .mac = asked, .mac_given = true};
	struct ethdev_mac mac = {0};
	struct rte_ether_addr before, now;
	uint16_t port_id = device("net_null1", "");

	CHECK(rte_eth_macaddr_get(port_id, &before) == 0);
	ethdev_mac_configure(&port, port_id, &mac);
	CHECK(rte_eth_macaddr_get(port_id, &now) == 0);
	CHECK(rte_is_same_ether_addr(&now, &asked) && rte_is_same_ether_addr(&port.mac, &asked));
	ethdev_mac_restore(&mac, port_id);
	CHECK(rte_eth_macaddr_get(port_id, &now) == 0);
	CHECK(rte_is_same_ether_addr(&now, &before));
}

static void test_address_that_is_refused_is_not_the_ports(void)
{
	struct port port = {.name = "p2", .mac = {{2, 0, 0, 0, 0, 9}}, .mac_given = true};
	struct ethdev_mac mac = {0};
	struct rte_ether_addr own;
	uint16_t port_id = device("net_ring0", "");

	CHECK(rte_eth_macaddr_get(port_id, &own) == 0);
	ethdev_mac_configure(&port, port_id, &mac);
	CHECK(rte_is_same_ether_addr(&port.mac, &own));
	CHECK(!mac.changed);
}

static void test_devargs_name_the_address_once(void)
{
	struct port port = {.name = "p3", .mac = {{2, 0, 0, 0, 0, 9}}, .mac_given = true};
	char argument[64] = "--vdev=net_memif0,id=1", given[64] = "--vdev=net_memif0,mac=x";
	char other[64] = "--vdev=net_null0", full[24] = "--vdev=net_memif0,id=1";

	CHECK_EQUAL(ethdev_mac_devargs(&port, argument, sizeof(argument)), 0);
	CHECK(strcmp(argument, "--vdev=net_memif0,id=1,mac=02:00:00:00:00:09") == 0);
	CHECK_EQUAL(ethdev_mac_devargs(&port, given, sizeof(given)), 0);
	CHECK(strcmp(given, "--vdev=net_memif0,mac=x") == 0);
	CHECK_EQUAL(ethdev_mac_devargs(&port, other, sizeof(other)), 0);
	CHECK(strcmp(other, "--vdev=net_null0") == 0);
	CHECK_EQUAL(ethdev_mac_devargs(&port, full, sizeof(full)), (uint64_t)-ENAMETOOLONG);
}

int main(void)
{
	static const struct test_case cases[] = {
		{"pause_names", test_pause_names},
		{"settings_of_a_device_without_any", test_settings_of_a_device_without_any},
		{"frames_longer_than_the_device_takes_are_refused",
			test_frames_longer_than_the_device_takes_are_refused},
		{"address_is_set_and_given_back", test_address_is_set_and_given_back},
		{"address_that_is_refused_is_not_the_ports",
			test_address_that_is_refused_is_not_the_ports},
		{"devargs_name_the_address_once", test_devargs_name_the_address_once},
	};

	if (!eal_start("128", "--lcores=0@0"))
		return EXIT_FAILURE;
	return TEST_RUN(cases);
}
