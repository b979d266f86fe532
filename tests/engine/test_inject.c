/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that the control side has a tester's port send: in their order and unchanged, whatever
 * room the port has, and in the ledger as soon as the port has them, no sooner.
 */
#include "core/ledger.h"
#include "tester/inject.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "tester_harness.h"

#include <rte_cycles.h>

#define FRAME_BYTES 1522
#define FRAMES_MAX 4096

static unsigned numbers[FRAMES_MAX], lengths[FRAMES_MAX];
static unsigned nb_sent, nb_streamed, room = UINT32_MAX;
static uint8_t last[FRAME_BYTES];

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t taken = (uint16_t)RTE_MIN((unsigned)count, room);

	(void)queue;
	for (uint16_t i = 0; i < taken; i++) {
		if (mbufs[i]->pool == tester.ports[0].senders[0]->pool) {
			nb_streamed++;
			continue;
		}
		memcpy(&numbers[nb_sent], rte_pktmbuf_mtod_offset(mbufs[i], void *, 14),
			sizeof(numbers[0]));
		memcpy(last, rte_pktmbuf_mtod(mbufs[i], void *), mbufs[i]->data_len);
		lengths[nb_sent++] = mbufs[i]->data_len;
	}
	rte_pktmbuf_free_bulk(mbufs, taken);
	room -= room == UINT32_MAX ? 0 : taken;
	return taken;
}

const struct tester_device tester_device = {
	.tx_burst = test_tx_burst, .max_frame_bytes = FRAME_BYTES};

static const char *inject_number(unsigned number, unsigned bytes)
{
	uint8_t frame[FRAME_BYTES + 1] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};

	memcpy(frame + 14, &number, sizeof(number));
	memset(frame + 18, 0xaa, sizeof(frame) - 18);
	return inject(port_at(0), frame, bytes);
}

static uint64_t in_ledger(const char *place)
{
	struct ledger ledger;
	uint64_t packets = 0;

	ledger_read(&ledger);
	for (unsigned i = 0; i < ledger.count; i++)
		if (ledger.entries[i].kind == LEDGER_SENT &&
			strcmp(ledger.entries[i].place, place) == 0)
			packets += ledger.entries[i].packets;
	ledger_free(&ledger);
	return packets;
}

static void the_order_is_kept(void)
{
	unsigned given = 0, walks = 0;

	while (nb_sent < 2000 && walks++ < 100000) {
		room = walks % 5;
		while (given < 2000 && inject_number(given, 60 + given % 1000) == NULL)
			given++;
		tester_walk();
		CHECK_EQUAL(in_ledger("tester e0: injected"), nb_sent);
	}
	CHECK_EQUAL(nb_sent, 2000);
	for (unsigned i = 0; i < nb_sent; i++) {
		CHECK_EQUAL(numbers[i], i);
		CHECK_EQUAL(lengths[i], 60 + i % 1000);
	}
	tester_walk();
	CHECK_EQUAL(nb_sent, 2000);
}

static void no_more_wait_than_there_is_room(void)
{
	unsigned given = 0;

	room = 0;
	while (inject_number(given, 60) == NULL && given < 2 * INJECT_RING)
		given++;
	CHECK_EQUAL(given, INJECT_RING);
	tester_walk();
	CHECK_EQUAL(nb_sent, 0);
	CHECK_EQUAL(in_ledger("tester e0: injected"), 0);
	/* Frames that the worker has taken are no more in the ring. */
	CHECK(inject_number(given, 60) == NULL);
	room = UINT32_MAX;
	for (unsigned i = 0; i < 10; i++)
		tester_walk();
	CHECK_EQUAL(nb_sent, INJECT_RING + 1);
}

static void short_frames_are_padded_and_wrong_ones_refused(void)
{
	CHECK(inject_number(7, 13) != NULL);
	CHECK(inject_number(7, FRAME_BYTES - RTE_ETHER_CRC_LEN + 1) != NULL);
	CHECK(injectors[0] == NULL);
	CHECK(inject_number(7, 20) == NULL);
	CHECK(inject_number(8, FRAME_BYTES - RTE_ETHER_CRC_LEN) == NULL);
	tester_walk();
	CHECK_EQUAL(nb_sent, 2);
	CHECK_EQUAL(lengths[0], 60);
	CHECK_EQUAL(lengths[1], FRAME_BYTES - RTE_ETHER_CRC_LEN);
	CHECK(inject_number(9, 20) == NULL);
	tester_walk();
	CHECK_EQUAL(last[19], 0xaa);
	for (unsigned i = 20; i < 60; i++)
		CHECK_EQUAL(last[i], 0);
}

static void a_trial_goes_on_beside_them(void)
{
	CHECK(trial_start(&(struct trial_plan){.duration_us = 10000000, .scale = 1.0}) > 0);
	for (unsigned i = 0; i < 200; i++) {
		CHECK(inject_number(i, 60) == NULL);
		device_clock += rte_get_tsc_hz() / 1000;
		tester_walk();
	}
	CHECK_EQUAL(nb_sent, 200);
	CHECK(nb_streamed > 1000);
	CHECK_EQUAL(in_ledger("tester e0"), nb_streamed);
	CHECK_EQUAL(in_ledger("tester e0: injected"), 200);
}

#define STREAMS \
	"\"streams\": [{\"port\": \"e0\", \"rx_port\": \"e1\", \"rate\": {\"pps\": 10000}, " \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"udp\": {\"src\": 1, \"dst\": 2}}]}]"

static const struct tester_case cases[] = {
	{"the order is kept", the_order_is_kept, STREAMS},
	{"no more wait than there is room", no_more_wait_than_there_is_room, STREAMS},
	{"short frames are padded and wrong ones refused",
		short_frames_are_padded_and_wrong_ones_refused, STREAMS},
	{"a trial goes on beside them", a_trial_goes_on_beside_them, STREAMS},
};
TESTER_MAIN(cases)
