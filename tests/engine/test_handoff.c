/* SPDX-License-Identifier: BSD-3-Clause */
/* Several workers on ports with one rx queue: what is of one flow stays in order, and nothing is
 * lost but where its name says. */
#include "core/worker.h"
#include "handoff/handoff.h"
#include "harness.h"

#include <rte_arp.h>
#include <rte_ip.h>

#define WORKERS 4
#define FLOWS 200
#define PACKETS 30000
#define NUMBER_AT (14 + 20 + 8) /* behind Ethernet, IPv4 and UDP */

static unsigned seed = 20250411;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

/* The flow's next packet; each third flow has no IP header. */
static void make(struct frame *frame, unsigned flow, uint32_t number)
{
	frame_ip4(frame, 0, RTE_IPV4(16, 0, 0, flow), RTE_IPV4(48, 0, 0, 1), 64, 18);
	if (flow % 3 == 0) {
		frame->bytes[12] = 0x88;
		frame->bytes[13] = 0xb5; /* IEEE 802: local experiments */
		frame->bytes[11] = (uint8_t)flow;
	}
	frame->bytes[NUMBER_AT - 1] = (uint8_t)flow;
	memcpy(frame->bytes + NUMBER_AT, &number, sizeof(number));
}

static uint32_t expected[FLOWS];

static void check_order(void)
{
	struct frame frame;
	uint32_t number;

	while (harness_get(1, &frame)) {
		unsigned flow = frame.bytes[NUMBER_AT - 1];

		memcpy(&number, frame.bytes + NUMBER_AT, sizeof(number));
		CHECK(flow < FLOWS && number == expected[flow]);
		expected[flow]++;
	}
}

/* Workers and wire take turns at random, so that rings are now empty and now long. */
static void flows_keep_their_order(void)
{
	uint32_t next[FLOWS] = {0}, total = 0;
	struct frame frame;

	for (unsigned sent = 0; sent < PACKETS; sent++) {
		unsigned flow = any(FLOWS);

		make(&frame, flow, next[flow]++);
		harness_put(0, &frame);
		while (any(50) == 0)
			harness_walk_worker(any(WORKERS));
		if (any(300) == 0) {
			CHECK(harness_balanced());
			check_order();
		}
		/* The test's own rings are short. */
		if (sent % 500 == 499)
			harness_walk();
	}
	harness_walk();
	check_order();
	for (unsigned flow = 0; flow < FLOWS; flow++)
		total += expected[flow];
	CHECK_EQUAL(total, PACKETS);
	for (unsigned to = 1; to < WORKERS; to++) {
		uint64_t handed = handoff_queue(0, to)->rings[PRIORITY_NORMAL].enqueued;

		CHECK(handed > PACKETS / WORKERS / 2 && handed < PACKETS / WORKERS * 2);
		CHECK(handoff_queue(to, 0) == NULL); /* the others poll nothing */
	}
}

static void a_full_ring_is_a_named_loss(void)
{
	struct frame frame;
	unsigned lost;

	for (unsigned i = 0; i < 200; i++) {
		make(&frame, 1 + 3 * any(60), i);
		harness_put(0, &frame);
	}
	harness_walk_worker(0);
	CHECK_EQUAL(harness_held(), 32);
	lost = (unsigned)handoff_queue(0, 1)->rings[PRIORITY_NORMAL].dropped;
	CHECK(lost > 0);
	CHECK_EQUAL(harness_reason("worker-handoff", "handoff ring full"), lost);
	CHECK(harness_balanced());
	harness_walk_worker(1);
	CHECK_EQUAL(harness_held(), 0);
	CHECK_EQUAL(harness_flush(), 200 - lost);
}

/* Worker 0 reads for three writers; a flow is one writer's, in order. */
static void readers_only_read(void)
{
	uint32_t next[FLOWS] = {0}, total = 0;
	struct frame frame;

	for (unsigned sent = 0; sent < PACKETS / 10; sent++) {
		unsigned flow = any(FLOWS);

		make(&frame, flow, next[flow]++);
		harness_put(0, &frame);
		if (any(20) == 0)
			harness_walk_worker(any(WORKERS));
		if (sent % 100 == 99)
			harness_walk();
	}
	/* Worker 0 does not send the packets that it reads. */
	CHECK(harness_balanced());
	harness_walk();
	check_order();
	for (unsigned flow = 0; flow < FLOWS; flow++)
		total += expected[flow];
	CHECK_EQUAL(total, PACKETS / 10);
	for (unsigned to = 1; to < WORKERS; to++) {
		const struct handoff_ring *ring = &handoff_queue(0, to)->rings[PRIORITY_NORMAL];

		CHECK(ring->enqueued > PACKETS / 100);
		CHECK_EQUAL(ring->dequeued, ring->enqueued);
		CHECK(handoff_queue(to, 0) == NULL);
	}
	CHECK(handoff_queue(0, 0) == NULL);
}

/* Data finds its ring full; ARP and ICMP have theirs, and go out first. */
static void control_passes_a_full_ring(void)
{
	struct frame frame, got;

	for (unsigned i = 0; i < 200; i++) {
		make(&frame, 1 + 3 * any(60), i);
		frame.bytes[14 + 9] = i % 10 == 9 ? 1 : 17; /* ICMP, UDP */
		harness_put(0, &frame);
	}
	harness_walk_worker(0);
	CHECK_EQUAL(harness_held(), 32 + 20);
	CHECK_EQUAL(harness_reason("worker-handoff", "handoff ring full"), 180 - 32);
	CHECK_EQUAL(handoff_queue(0, 1)->rings[PRIORITY_CONTROL].enqueued, 20);
	harness_walk_worker(1);
	for (unsigned i = 0; i < 52; i++) {
		CHECK(harness_get(1, &got));
		CHECK_EQUAL(got.bytes[14 + 9], i < 20 ? 1 : 17);
	}
	CHECK(harness_balanced());
}

/* The mode's entry of the port that a frame came in on, on every worker. */
static void ports_stay_separate(void)
{
	struct frame frame, got;

	for (unsigned i = 0; i < 400; i++) {
		unsigned port = any(4);

		make(&frame, 1 + 3 * any(60), i);
		frame.bytes[NUMBER_AT - 2] = (uint8_t)port;
		harness_put(port, &frame);
	}
	harness_walk();
	for (unsigned port = 0; port < 4; port++)
		while (harness_get(port, &got))
			CHECK_EQUAL(got.bytes[NUMBER_AT - 2], port ^ 1);
}

static void station(struct frame *frame, unsigned from, unsigned to)
{
	memset(frame, 0, sizeof(*frame));
	frame->bytes[0] = frame->bytes[6] = 2;
	frame->bytes[5] = (uint8_t)to;
	frame->bytes[11] = (uint8_t)from;
	frame->length = 60;
}

/* Whichever worker saw a station first: all know it, and flood no more; then it is too old. */
static void stations_are_known_on_all_workers(void)
{
	struct frame frame;
	uint64_t copies;

	for (unsigned i = 0; i < 60; i++) {
		station(&frame, i, 200);
		harness_send(i % 3, &frame);
		CHECK_EQUAL(harness_flush(), 2);
	}
	copies = harness_originated();
	for (unsigned i = 0; i < 500; i++) {
		unsigned from = any(60), to = any(60);

		station(&frame, from, to);
		harness_send(from % 3, &frame);
		CHECK_EQUAL(harness_flush(), from % 3 != to % 3);
	}
	CHECK_EQUAL(harness_originated(), copies);
	for (unsigned to = 1; to < WORKERS; to++)
		CHECK(handoff_queue(0, to)->rings[PRIORITY_NORMAL].enqueued > 0);
	for (unsigned second = 0; second < 12; second++)
		harness_seconds(1);
	station(&frame, 0, 1);
	harness_send(0, &frame);
	CHECK_EQUAL(harness_flush(), 2);
}

/* Packets of many flows wait for one neighbour on several workers; one answer frees them all. */
static void a_neighbour_is_learnt_for_all_workers(void)
{
	struct frame frame;
	unsigned requests = 0, out = 0;

	for (unsigned i = 0; i < 12; i++) {
		frame_ip4(&frame, 0, RTE_IPV4(16, 0, 0, i), RTE_IPV4(48, 0, 0, 1), 64, 18);
		harness_send(0, &frame);
		CHECK(harness_balanced());
	}
	while (harness_get(1, &frame)) {
		CHECK_EQUAL(frame.bytes[13], 0x06); /* ARP */
		requests++;
	}
	CHECK_EQUAL(requests, 1);
	CHECK(harness_held() > 0);
	frame_arp(&frame, 1, RTE_ARP_OP_REPLY, "02:00:00:00:77:01", RTE_IPV4(100, 64, 2, 2),
		RTE_IPV4(100, 64, 2, 1));
	harness_send(1, &frame);
	harness_seconds(0.02);
	CHECK_EQUAL(harness_held(), 0);
	CHECK(harness_flush() > 0);
	for (unsigned i = 0; i < 100; i++) {
		frame_ip4(&frame, 0, RTE_IPV4(16, 0, 0, i), RTE_IPV4(48, 0, 0, 1), 64, 18);
		harness_send(0, &frame);
	}
	while (harness_get(1, &frame))
		out += frame.bytes[5] == 0x01 && frame.bytes[4] == 0x77;
	CHECK_EQUAL(out, 100);
}

static const char router_options[] =
	"{\"mode\": \"router\", \"workers\": 4, \"router\": {\"cli\": \""
	"set int state e0 up\\nset int state e1 up\\n"
	"set int ip address e0 100.64.1.1/30\\nset int ip address e1 100.64.2.1/30\\n"
	"ip route add 48.0.0.0/24 via 100.64.2.2\\n\"}}";

static const struct harness_case cases[] = {
	{"flows keep their order", flows_keep_their_order,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"workers\": 4}")},
	{"a full ring is a named loss", a_full_ring_is_a_named_loss,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"workers\": 2, \"handoff_ring\": 32}")},
	{"readers only read, and flows keep their order, locked", readers_only_read,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"workers\": 4, \"threading\": "
				     "\"locked\", \"readers\": 1}")},
	{"readers only read, and flows keep their order, lock-free", readers_only_read,
		HARNESS_FORWARDER(2, "{\"mode\": \"io\", \"workers\": 4, \"threading\": "
				     "\"lock-free\", \"readers\": 1}")},
	{"control passes a full ring", control_passes_a_full_ring,
		HARNESS_FORWARDER(2,
			"{\"mode\": \"io\", \"workers\": 2, \"threading\": \"locked\", "
			"\"handoff_ring\": 32, \"handoff_ring_control\": 64}")},
	{"ports stay separate", ports_stay_separate,
		HARNESS_FORWARDER(4, "{\"mode\": \"io\", \"workers\": 4}")},
	{"stations are known on all workers", stations_are_known_on_all_workers,
		HARNESS_FORWARDER(3, "{\"mode\": \"l2switch\", \"workers\": 4, \"l2switch\": "
				     "{\"ageing_seconds\": 10}}")},
	{"stations are known on all workers, steered to their owners",
		stations_are_known_on_all_workers,
		HARNESS_FORWARDER(3, "{\"mode\": \"l2switch\", \"workers\": 4, "
				     "\"l2switch\": {\"ageing_seconds\": 10, \"steer\": true}}")},
	{"a neighbour is learnt for all workers", a_neighbour_is_learnt_for_all_workers,
		HARNESS_FORWARDER(2, router_options)},
};
HARNESS_MAIN(cases)
