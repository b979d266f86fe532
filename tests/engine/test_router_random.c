/* SPDX-License-Identifier: BSD-3-Clause */
/* Random and mutated frames: nothing breaks, and every packet is accounted for. */
#include "harness.h"
#include "router_cli.h"

#include "core/node.h"
#include "router/interface.h"

#include <rte_ip.h>

#define ROUNDS 200000
#define ROUNDS_CHECKED 50000 /* with source addresses checked */
#define VECTOR 64

static unsigned seed = 20240229;

static unsigned any(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static uint32_t any_address(void)
{
	static const uint32_t addresses[] = {RTE_IPV4(16, 0, 0, 1), RTE_IPV4(48, 0, 0, 1),
		RTE_IPV4(100, 64, 1, 1), RTE_IPV4(100, 64, 2, 1), RTE_IPV4(100, 64, 1, 0),
		RTE_IPV4(100, 64, 2, 255), RTE_IPV4(9, 9, 9, 9), RTE_IPV4(224, 0, 0, 1),
		RTE_IPV4(255, 255, 255, 255), RTE_IPV4(127, 0, 0, 1), RTE_IPV4(100, 64, 4, 2), 0,
		RTE_IPV4(49, 0, 0, 1), RTE_IPV4(50, 0, 0, 1), RTE_IPV4(51, 0, 0, 1)};
	unsigned index = any(RTE_DIM(addresses) + 2);

	if (index < RTE_DIM(addresses))
		return addresses[index];
	return index == RTE_DIM(addresses) ? RTE_IPV4(100, 64, 1 + any(4), any(256))
					   : (uint32_t)rand_r(&seed) * 2;
}

static void any_labels(struct frame *frame, unsigned port)
{
	uint32_t stack[12];
	unsigned labels = 1 + any(12);

	for (unsigned i = 0; i < labels; i++)
		stack[i] = (any(4) == 0          ? any(1 << 20)
				   : any(4) == 0 ? any(16)
						 : 16 + any(5))
				   << 12 |
			   any(8) << 9 | (uint32_t)(i + 1 == labels) << 8 |
			   (any(4) == 0 ? any(3) : any(256));
	frame_mpls(frame, port, stack, labels, any_address(), any_address(), (uint8_t)any(256),
		any(1600));
}

/* An echo request with a right checksum, mostly for the router. */
static void any_echo(struct frame *frame, unsigned port)
{
	uint8_t *icmp = frame_l3(frame) + 20;
	uint32_t sum = 0;
	unsigned payload = any(1400);

	frame_ip4(frame, port, any_address(), RTE_IPV4(100, 64, 1 + any(2), 1), 64, payload);
	frame_l3(frame)[9] = 1;
	frame_checksum(frame_l3(frame));
	memset(icmp, 0, 8);
	icmp[0] = 8;
	for (unsigned i = 0; i < 8 + payload; i++)
		sum += (uint32_t)icmp[i] << (i % 2 == 0 ? 8 : 0);
	sum = 0xffff - sum % 0xffff;
	icmp[2] = (uint8_t)(sum >> 8);
	icmp[3] = (uint8_t)sum;
	if (any(8) == 0) {
		frame_l3(frame)[2] = 0;
		frame_l3(frame)[3] = (uint8_t)(20 + any(9));
		frame_checksum(frame_l3(frame));
	}
}

static void any_options(struct frame *frame)
{
	static const uint8_t kinds[] = {0, 1, 7, 68, 131, 137, 148};

	frame_l3(frame)[0] = (uint8_t)(0x45 + any(11));
	for (unsigned i = 20; i < 60; i++)
		frame_l3(frame)[i] = any(2) == 0 ? kinds[any(sizeof(kinds))] : (uint8_t)any(8);
}

static const char *any_address6(void)
{
	static const char *const addresses[] = {"2001:db8:0:1::1", "2001:db8:0:2::1",
		"2001:db8:0:1::2", "2001:db8:0:2::2", "2001:db8:48::1", "2001:db8:49::1", "3fff::1",
		"fe80::ff:fe00:e00", "fe80::ff:fe00:e01", "fe80::2", "ff02::1", "ff02::2",
		"ff02::1:ff00:1", "ff05::1", "::", "::1", "::ffff:1.2.3.4", "2001:db8:0:1::77"};

	return addresses[any(RTE_DIM(addresses))];
}

/* Mostly neighbours' messages and echo requests that are right, or nearly. */
static void any_icmp6(struct frame *frame, unsigned port)
{
	static const uint8_t types[] = {1, 2, 128, 133, 135, 135, 136, 136, 137};
	uint8_t message[64] = {types[any(sizeof(types))]};
	unsigned bytes = any(4) == 0 ? any(64) : 32;

	message[4] = (uint8_t)(any(8) << 5);
	ip6_of(any_address6(), message + 8);
	message[24] = (uint8_t)(1 + any(2));
	message[25] = (uint8_t)(any(8) != 0);
	message[26] = any(8) == 0;
	message[31] = 9;
	message[1] = any(8) == 0;
	frame_icmp6(frame, port, any_address6(), any_address6(),
		any(8) == 0 ? (uint8_t)any(256) : 255, message, bytes);
}

static void any_extension(struct frame *frame)
{
	static const uint8_t kinds[] = {0, 43, 44, 60, 59};
	static const uint8_t options[] = {0, 1, 0x5e, 0x9e, 0xde};
	uint8_t header[16] = {0, 0, options[any(sizeof(options))], (uint8_t)any(6)};

	header[1] = (uint8_t)(any(4) == 0);
	frame_extend6(frame, kinds[any(sizeof(kinds))], header, any(8) == 0 ? 16 : 8);
}

static void any_ip6(struct frame *frame, unsigned port)
{
	if (any(2) == 0)
		any_icmp6(frame, port);
	else
		frame_ip6(frame, port, any_address6(), any_address6(),
			(uint8_t)(any(3) == 0 ? any(3) : any(256)), any(1500));
	if (any(8) == 0)
		frame_l3(frame)[6] = (uint8_t)any(256);
	while (any(3) == 0)
		any_extension(frame);
	/* A jumbogram's length is elsewhere. */
	if (any(32) == 0)
		memset(frame_l3(frame) + 4, 0, 3);
	if (any(16) == 0)
		memset(frame->bytes, any(2) == 0 ? 0x33 : 0xff, 6);
}

static void any_frame(struct frame *frame, unsigned port)
{
	switch (any(11)) {
	case 8:
	case 9:
		any_ip6(frame, port);
		break;
	case 0:
		frame_arp(frame, port, (uint16_t)(1 + any(2)), "02:11:22:33:44:55", any_address(),
			any_address());
		break;
	case 1:
	case 10:
		any_labels(frame, port);
		break;
	case 2:
		frame_ethernet(frame, port, any(3) == 0 ? 0x0800 : any(2) == 0 ? 0x86dd : 0x8847);
		frame->length = 14 + any(1501);
		for (unsigned i = 14; i < frame->length; i++)
			frame->bytes[i] = (uint8_t)any(256);
		break;
	case 3:
		any_echo(frame, port);
		break;
	case 4:
		frame_ethernet(frame, port, (uint16_t)(any(2) == 0 ? 0x8100 : any(65536)));
		break;
	default:
		frame_ip4(frame, port, any_address(), any_address(),
			(uint8_t)(any(3) == 0 ? any(3) : any(256)), any(1600));
		if (any(2) == 0)
			frame_l3(frame)[9] = (uint8_t)(any(2) == 0 ? 1 : any(256));
		if (any(4) == 0)
			any_options(frame);
		if (any(4) == 0) {
			frame_l3(frame)[6] = (uint8_t)(any(2) == 0 ? 0x1f : any(256));
			frame_l3(frame)[7] = (uint8_t)any(256);
		}
		frame_l3(frame)[20] = (uint8_t)any(20);
		frame_checksum(frame_l3(frame));
		break;
	}
}

/* Tags, mostly those of the port's sub-interface. */
static void any_tags(struct frame *frame, unsigned port)
{
	static const uint32_t right[2][2] = {{0x81000064}, {0x88a8012c, 0x81000007}};
	unsigned tags = any(8) == 0 ? 1 + any(3) : port + 1;

	for (unsigned i = tags; i-- > 0;) {
		uint32_t tag = i < 2 && any(8) != 0 ? right[port][i] : 0x81000000 | any(3);
		uint8_t *at = frame->bytes + 12;

		memmove(at + 4, at, frame->length - 12);
		at[0] = (uint8_t)(tag >> 24);
		at[1] = (uint8_t)(tag >> 16);
		at[2] = (uint8_t)(tag >> 8);
		at[3] = (uint8_t)tag;
		frame->length += 4;
	}
}

static void mutate(struct frame *frame)
{
	unsigned changes = any(3) == 0 ? any(8) : 0;

	for (unsigned i = 0; i < changes; i++)
		frame->bytes[any(RTE_MIN(frame->length, 60u))] ^= (uint8_t)(1 << any(8));
	if (any(4) == 0)
		frame->length =
			any((any(2) == 0 ? RTE_MIN(frame->length, 60u) : frame->length) + 1);
	else if (any(8) == 0)
		frame->length = RTE_MIN(frame->length + any(64), 1700u);
}

static void random_frames(unsigned rounds)
{
	struct frame frame;

	for (unsigned round = 0; round < rounds; round++) {
		unsigned port = any(2);

		any_frame(&frame, port);
		if (any(3) == 0)
			any_tags(&frame, port);
		mutate(&frame);
		harness_put(port, &frame);
		if (any(VECTOR) != 0)
			continue;
		harness_tx_full(port, any(10) == 0);
		harness_walk();
		CHECK(harness_balanced());
		harness_flush();
		if (any(4) == 0)
			harness_seconds(0.4);
	}
	harness_walk();
	harness_flush();
}

/* After all that, which drop reasons of the router were never met? */
static void every_reason_is_met(void)
{
	static const char *const never[] = {/* met by cases of their own */
		"neighbor table full", "too many packets wait for neighbors", "interface down",
		"no headroom in the buffer", "interface has no address", "rate limited",
		"mpls disabled on the interface", "no buffers for the fragments",
		"newer packets wait for the neighbor", "ip6 disabled on the interface",
		"no interface has ip6", "label stack has no bottom",
		/* the fib drops those first */
		"about a broadcast or multicast",
		/* these ports have no link: tests/system/test_links.py */
		"link down"};
	unsigned missing = 0;

	random_frames(ROUNDS);
	interfaces_martians = true;
	interface_set_urpf(interface_find("e0"), INTERFACE_URPF_STRICT);
	interface_set_urpf(interface_find("e1"), INTERFACE_URPF_LOOSE);
	random_frames(ROUNDS_CHECKED);
	for (const struct node_state *s = node_states(); s != NULL; s = s->link)
		for (unsigned r = 0; r < NODE_REASONS_MAX && s->type->reasons[r] != NULL; r++) {
			bool excused = s->drops[r] != 0;

			for (unsigned i = 0; i < RTE_DIM(never) && !excused; i++)
				excused = strcmp(never[i], s->type->reasons[r]) == 0;
			if (!excused) {
				fprintf(stderr, "never met: %s: %s\n", s->name,
					s->type->reasons[r]);
				missing++;
			}
		}
	CHECK_EQUAL(missing, 0);
}

static const struct harness_case cases[] = {
	{"250,000 random and mutated frames", every_reason_is_met, .cli = router_cli},
};
HARNESS_MAIN(cases)
