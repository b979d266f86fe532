/* SPDX-License-Identifier: BSD-3-Clause */
/* Source addresses: RFC 1812 5.3.7 (martians) and RFC 3704 (reverse path forwarding). */
#include "harness.h"

#include "modes/forwarder.h"
#include "router/interface.h"

#include <rte_ip.h>

#define HOST_A RTE_IPV4(16, 0, 0, 1)
#define HOST_B RTE_IPV4(48, 0, 0, 9)
#define STRANGER RTE_IPV4(99, 0, 0, 1)

#define CLI \
	"set int state e0 up\\n" \
	"set int state e1 up\\n" \
	"set int ip address e0 100.64.1.1/30\\n" \
	"set int ip address e1 100.64.2.1/30\\n" \
	"ip route add 16.0.0.0/24 via 100.64.1.2\\n" \
	"ip route add 48.0.0.0/24 via 100.64.2.2\\n" \
	"ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\\n" \
	"ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\\n"

static void check_dropped(const char *reason, uint32_t source)
{
	struct frame frame;

	frame_ip4(&frame, 0, source, HOST_B, 64, 20);
	CHECK_REASON("ip4-source-check", reason, 0, &frame);
	CHECK_EQUAL(harness_flush(), 0);
}

static void check_passes(unsigned port, uint32_t source, uint32_t destination)
{
	struct frame frame;

	frame_ip4(&frame, port, source, destination, 64, 20);
	harness_send(port, &frame);
	CHECK_EQUAL(harness_flush(), 1);
}

/* RFC 1812 5.3.7: such a packet is discarded in silence. */
static void martians(void)
{
	struct frame frame;

	check_dropped("source in 0.0.0.0/8", RTE_IPV4(0, 0, 0, 0));
	check_dropped("source in 0.0.0.0/8", RTE_IPV4(0, 255, 1, 2));
	check_dropped("source in 127.0.0.0/8", RTE_IPV4(127, 0, 0, 1));
	check_dropped("multicast source", RTE_IPV4(224u, 0, 0, 5));
	check_dropped("multicast source", RTE_IPV4(239u, 1, 1, 1));
	check_dropped("source in 240.0.0.0/4", RTE_IPV4(240u, 0, 0, 1));
	check_dropped("source in 240.0.0.0/4", UINT32_MAX);
	check_dropped("directed broadcast as source", RTE_IPV4(100, 64, 1, 3));
	check_dropped("directed broadcast as source", RTE_IPV4(100, 64, 2, 0));
	check_dropped("own address as source", RTE_IPV4(100, 64, 1, 1));
	check_dropped("own address as source", RTE_IPV4(100, 64, 2, 1));
	check_passes(0, HOST_A, HOST_B);
	check_passes(0, RTE_IPV4(1, 0, 0, 0), HOST_B);
	check_passes(0, RTE_IPV4(126, 255, 255, 255), HOST_B);
	check_passes(0, RTE_IPV4(223u, 255, 255, 255), HOST_B);
	/* RFC 3704 is not asked for. */
	check_passes(0, STRANGER, HOST_B);
	/* The header is checked first. */
	frame_ip4(&frame, 0, RTE_IPV4(127, 0, 0, 1), HOST_B, 64, 20);
	frame_l3(&frame)[10] ^= 1;
	CHECK_REASON("ip4-input", "bad checksum", 0, &frame);
}

/* RFC 3704 2.2: only what would be sent back the same way. */
static void strict(void)
{
	check_passes(0, HOST_A, HOST_B);
	check_passes(0, RTE_IPV4(100, 64, 1, 2), HOST_B);
	check_dropped("rpf: the source is at another interface", HOST_B);
	check_dropped("rpf: the source is at another interface", RTE_IPV4(100, 64, 2, 2));
	check_dropped("rpf: no route to the source", STRANGER);
	check_dropped("rpf: no route to the source", RTE_IPV4(127, 0, 0, 1));
	/* The other interface does not ask. */
	check_passes(1, STRANGER, HOST_A);
	check_passes(1, HOST_A, HOST_A);
}

/* RFC 3704 2.4: what has any route. */
static void loose(void)
{
	check_passes(0, HOST_A, HOST_B);
	check_passes(0, HOST_B, HOST_B);
	check_dropped("rpf: no route to the source", STRANGER);
	check_passes(1, STRANGER, HOST_A);
}

/* Vectors with packets of an interface that asks and of one that does not. */
static void mixed(void)
{
	struct frame frame;
	uint64_t before = harness_reason("ip4-source-check", "rpf: no route to the source");

	for (unsigned i = 0; i < 300; i++) {
		frame_ip4(&frame, i % 2,
			i % 3 == 0 ? STRANGER
			: i % 2    ? HOST_B
				   : HOST_A,
			i % 2 ? HOST_A : HOST_B, 64, 20);
		harness_put(i % 2, &frame);
	}
	harness_walk();
	CHECK_EQUAL(harness_flush(), 250);
	CHECK_EQUAL(harness_reason("ip4-source-check", "rpf: no route to the source"), before + 50);
}

/* Switched on and off while it runs. */
static void changed(void)
{
	check_passes(0, STRANGER, HOST_B);
	interface_set_urpf(interface_find("e0"), INTERFACE_URPF_LOOSE);
	check_dropped("rpf: no route to the source", STRANGER);
	interface_set_state(interface_find("e0"), false);
	interface_set_state(interface_find("e0"), true);
	check_dropped("rpf: no route to the source", STRANGER);
	interface_set_urpf(interface_find("e0"), INTERFACE_URPF_OFF);
	check_passes(0, STRANGER, HOST_B);
	check_passes(0, RTE_IPV4(127, 0, 0, 1), HOST_B);
}

static const struct harness_case cases[] = {
	{"RFC 1812 5.3.7: martian sources", martians,
		HARNESS_MODE(2, "router", "{\"cli\": \"" CLI "\", \"martians\": true}")},
	{"RFC 3704 2.2: strict reverse path forwarding", strict,
		HARNESS_MODE(2, "router", "{\"cli\": \"" CLI "set urpf ip4 rx strict e0\"}")},
	{"RFC 3704 2.4: loose reverse path forwarding", loose,
		HARNESS_MODE(2, "router",
			"{\"cli\": \"" CLI
			"\", \"interfaces\": [{\"port\": \"e0\", \"rpf\": \"loose\"}]}")},
	{"vectors of both kinds of interface", mixed,
		HARNESS_MODE(2, "router", "{\"cli\": \"" CLI "set urpf ip4 rx strict e0\"}")},
	{"switched on and off", changed, HARNESS_MODE(2, "router", "{\"cli\": \"" CLI "\"}")},
};
HARNESS_MAIN(cases)
