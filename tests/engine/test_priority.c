/* SPDX-License-Identifier: BSD-3-Clause */
/* Priorities of packets between workers; and never a byte behind the frame. */
#include "handoff/priority.h"
#include "test.h"

#include <stdint.h>

#define ETHER 14

static uint8_t frame[80];

static unsigned ether(unsigned at, uint16_t type)
{
	frame[at - 2] = (uint8_t)(type >> 8);
	frame[at - 1] = (uint8_t)type;
	return at;
}

static void ip4(unsigned at, unsigned dscp, uint8_t protocol)
{
	ether(at, 0x0800);
	memset(frame + at, 0, sizeof(frame) - at);
	frame[at] = 0x45;
	frame[at + 1] = (uint8_t)(dscp << 2 | 3); /* ECN is no part of it */
	frame[at + 9] = protocol;
}

static void ip6(unsigned at, unsigned dscp, uint8_t protocol)
{
	ether(at, 0x86dd);
	memset(frame + at, 0, sizeof(frame) - at);
	frame[at] = (uint8_t)(0x60 | dscp >> 2);
	frame[at + 1] = (uint8_t)(dscp << 6 | 0x3f);
	frame[at + 6] = protocol;
}

static enum priority of_dscp(unsigned dscp)
{
	if (dscp >= 48)
		return PRIORITY_CONTROL;
	return dscp == 46 || dscp == 44 || dscp == 34 || dscp == 36 || dscp == 38 ? PRIORITY_HIGH
										  : PRIORITY_NORMAL;
}

static void each_dscp(void)
{
	for (unsigned dscp = 0; dscp < 64; dscp++) {
		ip4(ETHER, dscp, 17);
		CHECK_EQUAL(priority_of(frame, 60), of_dscp(dscp));
		ip6(ETHER, dscp, 17);
		CHECK_EQUAL(priority_of(frame, 60), of_dscp(dscp));
		/* The protocol can only raise it. */
		ip4(ETHER, dscp, 89);
		CHECK_EQUAL(priority_of(frame, 60), PRIORITY_CONTROL);
	}
}

static void each_protocol(void)
{
	static const uint8_t control[] = {1, 2, 46, 58, 88, 89, 103, 112};

	for (unsigned protocol = 0; protocol < 256; protocol++) {
		enum priority wanted = PRIORITY_NORMAL;

		for (unsigned i = 0; i < sizeof(control); i++)
			if (control[i] == protocol)
				wanted = PRIORITY_CONTROL;
		ip4(ETHER, 0, (uint8_t)protocol);
		CHECK_EQUAL(priority_of(frame, 60), wanted);
		ip6(ETHER, 0, (uint8_t)protocol);
		CHECK_EQUAL(priority_of(frame, 60), wanted);
	}
	/* MLD, behind a hop-by-hop header. */
	ip6(ETHER, 0, 0);
	frame[ETHER + 40] = 58;
	CHECK_EQUAL(priority_of(frame, 60), PRIORITY_CONTROL);
	CHECK_EQUAL(priority_of(frame, ETHER + 40), PRIORITY_NORMAL);
}

static void others(void)
{
	static const struct {
		uint16_t type;
		enum priority priority;
	} types[] = {
		{0x0806, PRIORITY_CONTROL}, /* ARP */
		{0x88cc, PRIORITY_CONTROL}, /* LLDP */
		{0x8809, PRIORITY_CONTROL}, /* LACP */
		{0x0026, PRIORITY_CONTROL}, /* a length: spanning tree */
		{0x8847, PRIORITY_NORMAL},
		{0x88b5, PRIORITY_NORMAL},
	};

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(frame, 0, sizeof(frame));
		frame[0] = 1; /* a group */
		ether(ETHER, types[i].type);
		CHECK_EQUAL(priority_of(frame, 60), types[i].priority);
		/* With a tag. */
		ether(ETHER, 0x8100);
		ether(ETHER + 4, types[i].type);
		CHECK_EQUAL(priority_of(frame, 64), types[i].priority);
	}
	/* A length, and to one station. */
	memset(frame, 0, sizeof(frame));
	ether(ETHER, 0x0026);
	CHECK_EQUAL(priority_of(frame, 60), PRIORITY_NORMAL);
}

static void tags(void)
{
	memset(frame, 0, sizeof(frame));
	ether(ETHER, 0x88a8);
	ether(ETHER + 4, 0x8100);
	ip4(ETHER + 8, 46, 17);
	CHECK_EQUAL(priority_of(frame, 68), PRIORITY_HIGH);
	ether(ETHER + 8, 0x8100);
	ip4(ETHER + 12, 46, 17);
	CHECK_EQUAL(priority_of(frame, 72), PRIORITY_NORMAL);
}

/* Each frame in memory of just its size: the sanitizer sees a read behind it. */
static void cut_short(void)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		memset(frame, 0, sizeof(frame));
		if (kind == 2)
			ether(ETHER, 0x8100);
		if (kind == 1)
			ip6(ETHER, 48, 0);
		else
			ip4(kind == 2 ? ETHER + 4 : ETHER, 48, 1);
		for (unsigned bytes = 0; bytes < 60; bytes++) {
			uint8_t *cut = malloc(bytes == 0 ? 1 : bytes);
			unsigned header = kind == 1 ? 40 : kind == 2 ? 24 : 20;

			if (cut == NULL)
				return;
			memcpy(cut, frame, bytes);
			CHECK_EQUAL(priority_of(cut, bytes),
				bytes < ETHER + header ? PRIORITY_NORMAL : PRIORITY_CONTROL);
			free(cut);
		}
	}
}

static const struct test_case cases[] = {
	{"each DSCP", each_dscp},
	{"each protocol", each_protocol},
	{"ARP, LLDP, LACP, spanning tree", others},
	{"up to two tags", tags},
	{"frames that are cut short", cut_short},
};
TEST_MAIN(cases)
