/* SPDX-License-Identifier: BSD-3-Clause */
#include "card/card.h"
#include "card/pacer.h"
#include "test.h"

/* Offered more than it serves, a resource serves its rate, whatever the steps of time. */
static void serves_its_rate(void)
{
	const double hz = 2.6e9, rate = 14880952;
	struct pacer pacer;
	unsigned long served = 0;
	double now = 1e6;

	srand(1);
	pacer_set(&pacer, rate, hz, 0);
	pacer_idle_until(&pacer, now);
	while (now < 1e6 + hz) {
		while (pacer_has_room(&pacer, now)) {
			pacer_take(&pacer, 1);
			served++;
		}
		now += rand() % 5000;
	}
	CHECK(served >= rate * 0.99999);
	CHECK(served <= rate * 1.00001 + 1);
}

static void idle_time_is_gone(void)
{
	struct pacer pacer;
	unsigned served = 0;

	pacer_set(&pacer, 1000, 1e9, 0);
	pacer_idle_until(&pacer, 5e9);
	while (pacer_has_room(&pacer, 5e9)) {
		pacer_take(&pacer, 1);
		served++;
	}
	CHECK_EQUAL(served, 1);
}

static void a_backlog_may_wait(void)
{
	struct pacer pacer;
	unsigned served = 0;

	pacer_set(&pacer, 1000, 1e9, 10 * 1e6);
	pacer_idle_until(&pacer, 5e9);
	while (pacer_has_room(&pacer, 5e9)) {
		pacer_take(&pacer, 1);
		served++;
	}
	CHECK_EQUAL(served, 11);
}

static void without_a_rate_there_is_no_limit(void)
{
	struct pacer pacer;

	pacer_set(&pacer, 0, 1e9, 0);
	for (unsigned i = 0; i < 1000; i++)
		pacer_take(&pacer, 1e9);
	CHECK(pacer_has_room(&pacer, 0));
}

/* 64 bytes with FCS: 60 and 24 of TLP, 16 of descriptor and a quarter of its TLP. */
static void pcie_counts_tlps(void)
{
	const struct card_pcie pcie = {.max_payload_bytes = 256};
	const struct card_pcie small = {.max_payload_bytes = 128};

	CHECK_EQUAL(card_pcie_up_bytes(&pcie, 60), 60 + 24 + 16 + 6);
	CHECK_EQUAL(card_pcie_down_bytes(&pcie, 60), 60 + 20 + 16 + 5);
	CHECK_EQUAL(card_pcie_up_bytes(&pcie, 1510), 1510 + 6 * 24 + 16 + 6);
	CHECK_EQUAL(card_pcie_up_bytes(&small, 1510), 1510 + 12 * 24 + 16 + 6);
	CHECK_EQUAL(card_pcie_up_bytes(&small, 128), 128 + 24 + 16 + 6);
	CHECK_EQUAL(card_pcie_up_bytes(&small, 129), 129 + 48 + 16 + 6);
}

static const struct test_case cases[] = {
	{"serves its rate", serves_its_rate},
	{"idle time is gone", idle_time_is_gone},
	{"a backlog may wait", a_backlog_may_wait},
	{"without a rate there is no limit", without_a_rate_there_is_no_limit},
	{"pcie counts TLPs", pcie_counts_tlps},
};
TEST_MAIN(cases)
