/* SPDX-License-Identifier: BSD-3-Clause */
/* A link that goes down and comes up is recorded, with a device that does both when asked: a ring
 * of DPDK's. */
#include "port/ethdev_link.h"
#include "test.h"

#include <errno.h>
#include <rte_cycles.h>
#include <rte_eal.h>

static struct port port;
static struct ethdev_link link_of_port;
static uint16_t port_id;

static void start(void)
{
	port.link_down = false;
	ethdev_link_start(&link_of_port, &port, port_id, NULL);
}

static struct port_link look(void)
{
	struct port_link record;

	ethdev_link_look(&link_of_port);
	ethdev_link_read(&link_of_port, &record);
	return record;
}

static void what_was_so_at_the_start_is_no_change(void)
{
	struct port_link record;

	CHECK_EQUAL(rte_eth_dev_set_link_down(port_id), 0);
	start();
	ethdev_link_read(&link_of_port, &record);
	CHECK(record.known);
	CHECK(!record.up);
	CHECK(port_link_is_down(&port));
	CHECK_EQUAL(record.speed_bps, 0);
	CHECK_EQUAL(record.downs + record.ups, 0);
	CHECK_EQUAL(rte_eth_dev_set_link_up(port_id), 0);
	record = look();
	CHECK(record.up);
	CHECK(!port_link_is_down(&port));
	CHECK_EQUAL(record.ups, 1);
	CHECK_EQUAL(record.downs, 0);
	ethdev_link_stop(&link_of_port);
}

static void each_change_is_counted_and_timed(void)
{
	struct port_link record, before;

	start();
	before = look();
	CHECK(before.up);
	CHECK(before.full_duplex);
	CHECK_EQUAL(before.speed_bps, 10000000000);
	CHECK_EQUAL(before.down_tsc, 0);
	for (unsigned i = 1; i <= 3; i++) {
		CHECK_EQUAL(rte_eth_dev_set_link_down(port_id), 0);
		record = look();
		CHECK_EQUAL(record.downs, i);
		CHECK_EQUAL(record.ups, i - 1);
		CHECK(record.down_tsc > before.up_tsc);
		CHECK(port_link_is_down(&port));
		/* Looked at again it is the same. */
		CHECK_EQUAL(look().down_tsc, record.down_tsc);
		CHECK_EQUAL(rte_eth_dev_set_link_up(port_id), 0);
		before = look();
		CHECK_EQUAL(before.ups, i);
		CHECK(before.up_tsc > record.down_tsc);
		CHECK(!port_link_is_down(&port));
	}
	ethdev_link_stop(&link_of_port);
}

static void a_tick_looks_when_it_is_time(void)
{
	struct port_link record;

	start();
	CHECK_EQUAL(rte_eth_dev_set_link_down(port_id), 0);
	link_of_port.looked_tsc -= rte_get_tsc_hz();
	ethdev_link_tick(&link_of_port);
	ethdev_link_read(&link_of_port, &record);
	CHECK(!record.up);
	CHECK_EQUAL(rte_eth_dev_set_link_up(port_id), 0);
	ethdev_link_stop(&link_of_port);
}

static void a_link_that_is_stopped_is_not_known(void)
{
	struct port_link record = {.known = true};

	start();
	ethdev_link_stop(&link_of_port);
	ethdev_link_tick(&link_of_port);
	ethdev_link_read(&link_of_port, &record);
	CHECK(!record.known);
}

static int start_device(void)
{
	const struct rte_eth_conf conf = {0};
	struct rte_mempool *pool = rte_pktmbuf_pool_create("rx", 63, 0, 0, 2048, SOCKET_ID_ANY);
	int rc = rte_eth_dev_get_port_by_name("net_ring0", &port_id);

	if (rc == 0 && pool == NULL)
		rc = -ENOMEM;
	if (rc == 0)
		rc = rte_eth_dev_configure(port_id, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port_id, 0, 32, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port_id, 0, 32, SOCKET_ID_ANY, NULL);
	return rc == 0 ? rte_eth_dev_start(port_id) : rc;
}

int main(void)
{
	char program[] = "test", huge[] = "--no-huge", shared[] = "--no-shconf", memory[] = "-m64",
	     pci[] = "--no-pci", telemetry[] = "--no-telemetry", device[] = "--vdev=net_ring0";
	char *arguments[] = {program, huge, shared, memory, pci, telemetry, device, NULL};
	static const struct test_case cases[] = {
		{"what was so at the start is no change", what_was_so_at_the_start_is_no_change},
		{"each change is counted and timed", each_change_is_counted_and_timed},
		{"a tick looks when it is time", a_tick_looks_when_it_is_time},
		{"a link that is stopped is not known", a_link_that_is_stopped_is_not_known},
	};

	if (rte_eal_init(7, arguments) < 0 || start_device() != 0) {
		fprintf(stderr, "DPDK does not start\n");
		return EXIT_FAILURE;
	}
	return TEST_RUN(cases);
}
