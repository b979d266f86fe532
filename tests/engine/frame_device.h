/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device before the tester that keeps the frames that come and gives back what a test puts down:
 * for tests that include it once.
 */
#ifndef LINERATE_FRAME_DEVICE_H
#define LINERATE_FRAME_DEVICE_H

#include "port/port.h"
#include "tester/tester.h"
#include "tester/trial.h"
#include "test.h"
#include "tester_harness.h"

#include <rte_cycles.h>

#define FRAMES_MAX (1u << 18)
#define FRAME_BYTES 256

struct test_frame {
	uint16_t length, port; /* that it is received at */
	uint8_t bytes[FRAME_BYTES];
};

/* Frames that the tester sent, and those that the device returns. */
static struct test_frame came[FRAMES_MAX], goes[2 * FRAMES_MAX];
static uint32_t nb_came, nb_goes, nb_given;

static uint16_t test_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct port *port = queue;
	uint16_t got = 0;

	for (; got < count && nb_given < nb_goes && goes[nb_given].port == port->index; got++) {
		const struct test_frame *frame = &goes[nb_given];

		mbufs[got] = rte_pktmbuf_alloc(tester.ports[0].senders[0]->pool);
		if (mbufs[got] == NULL)
			break;
		/* The generator would take it for one of its own. */
		mbufs[got]->hash.fdir.hi = 0;
		memset(mbufs[got]->buf_addr, 0, FRAME_BYTES);
		mbufs[got]->data_off = 0;
		mbufs[got]->data_len = frame->length;
		mbufs[got]->pkt_len = frame->length;
		mbufs[got]->port = port->index;
		memcpy(rte_pktmbuf_mtod(mbufs[got], void *), frame->bytes, frame->length);
		nb_given++;
	}
	return got;
}

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	(void)queue;
	for (uint16_t i = 0; i < count && nb_came < FRAMES_MAX; i++) {
		struct test_frame *frame = &came[nb_came++];

		frame->length = mbufs[i]->data_len;
		memcpy(frame->bytes, rte_pktmbuf_mtod(mbufs[i], const void *), frame->length);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

const struct tester_device tester_device = {test_rx_burst, test_tx_burst, FRAME_BYTES};

/* Sends for so long; the frames stand in `came`. */
static void send_for(double seconds)
{
	uint64_t us = rte_get_tsc_hz() / 1000000, until;

	nb_came = nb_goes = nb_given = 0;
	CHECK(trial_start(&(struct trial_plan){
		      .duration_us = (uint64_t)(seconds * 1e6), .scale = 1.0}) > 0);
	until = device_clock + (uint64_t)(seconds * 1.01 * (double)rte_get_tsc_hz());
	while (device_clock < until) {
		device_clock += 50 * us;
		tester_walk();
	}
}

/* The tester takes back what the device gives; then the trial is over. */
static void take_back(void)
{
	struct trial_status status;

	do {
		tester_walk();
	} while (nb_given < nb_goes);
	do {
		tester_walk();
		trial_tick();
		trial_read(&status);
	} while (status.state != TRIAL_DONE);
	CHECK(status.drained);
}

/* The device gives it back at a port. */
static struct test_frame *give(const struct test_frame *frame, uint16_t port)
{
	goes[nb_goes] = *frame;
	goes[nb_goes].port = port;
	return &goes[nb_goes++];
}

#endif
