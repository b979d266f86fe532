/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers are found by their whole name; one that is not listed keeps to ethdev. */
#include "port/ethdev_quirks.h"
#include "test.h"

static const struct ethdev_quirks *of(const char *driver)
{
	const struct rte_eth_dev_info info = {.driver_name = driver};

	return ethdev_quirks_of(&info);
}

static void em_counts_the_fcs(void)
{
	CHECK(of("net_e1000_em")->bytes_with_fcs);
}

static void others_keep_to_ethdev(void)
{
	static const char *const names[] = {
		"net_e1000_igb", "net_e1000_em_vf", "net_e1000", "net_vmxnet3", "", NULL};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(!of(names[i])->bytes_with_fcs);
}

static const struct test_case cases[] = {
	{"em counts the FCS", em_counts_the_fcs},
	{"others keep to ethdev", others_keep_to_ethdev},
};
TEST_MAIN(cases)
