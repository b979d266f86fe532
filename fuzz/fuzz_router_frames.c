/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames into the router's graph. The input is a list of frames: port and what happens
 * before (1 byte), length (2 bytes, little endian), then as many bytes. After each input no
 * packet and no buffer may be unaccounted for.
 */
#include "harness.h"

static const char cli[] =
	"set int state e0 up\n"
	"set int state e1 up\n"
	"set int mtu packet 576 e1\n"
	"create sub-interfaces e0 100\n"
	"create sub-interfaces e1 7 dot1ad 300 inner-dot1q 7 exact-match\n"
	"set int state e0.100 up\n"
	"set int state e1.7 up\n"
	"set int mtu packet 68 e1.7\n"
	"set interface mpls e0.100 enable\n"
	"set int ip address e0.100 100.64.3.1/24\n"
	"set int ip address e1.7 100.64.4.1/24\n"
	"ip neighbor e1.7 100.64.4.2 50:7c:6f:20:30:72\n"
	"set int ip address e0 100.64.1.1/24\n"
	"set int ip address e1 100.64.2.1/24\n"
	"set int ip address e0 2001:db8:0:1::1/64\n"
	"set int ip address e1 2001:db8:0:2::1/64\n"
	"ip route add 2001:db8:48::/48 via 2001:db8:0:2::2\n"
	"ip route add 2001:db8:49::/48 via fe80::2 e1\n"
	"ip neighbor e0 2001:db8:0:1::2 50:7c:6f:20:30:70\n"
	"ip neighbor e1 2001:db8:0:2::2 50:7c:6f:20:30:71\n"
	"ip route add 16.0.0.0/24 via 100.64.1.2\n"
	"ip route add 48.0.0.0/24 via 100.64.2.2\n"
	"ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70\n"
	"ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71\n"
	"set interface mpls e0 enable\n"
	"set interface mpls e1 enable\n"
	"mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17\n"
	"mpls local-label add 16 non-eos via 100.64.2.9 e1\n"
	"mpls local-label add 17 eos via 100.64.1.2 e0\n"
	"mpls local-label add 17 non-eos via mpls-lookup-in-table 0\n"
	"mpls local-label add 18 eos via ip4-lookup-in-table 0\n"
	"mpls local-label add 18 non-eos via 100.64.1.9 e0 out-labels 1 2 30 4 5 6 7 8\n"
	"ip route add 49.0.0.0/24 via 100.64.1.2 weight 2 via 100.64.2.2 via 100.64.2.9\n"
	"ip route add 50.0.0.0/24 via 100.64.2.2 out-labels 100 200\n"
	"ip route add 51.0.0.0/24 via 100.64.1.2 out-labels 7 via 100.64.2.2 via 100.64.2.9\n"
	"mpls local-label add 19 eos via 100.64.1.2 out-labels 3 via 100.64.2.2 out-labels 9\n"
	"mpls local-label add 19 non-eos via 100.64.1.2 out-labels 3 via 100.64.2.2 "
	"out-labels 9 10\n"
	"mpls local-label add 20 non-eos via 100.64.2.2 e1\n";

#define HAPPENS_PORT 1    /* e1 instead of e0 */
#define HAPPENS_SECOND 2  /* a second goes by */
#define HAPPENS_TX_FULL 4 /* the other port's ring is full from here on */
#define HAPPENS_WALK 8    /* the frames so far are worked on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t one_frame(const uint8_t *data, size_t size)
{
	static struct frame frame;
	unsigned port = data[0] & HAPPENS_PORT;
	size_t length = data[1] | (size_t)data[2] << 8;

	if (data[0] & HAPPENS_WALK)
		harness_walk();
	if (data[0] & HAPPENS_SECOND)
		harness_seconds(1.1);
	if (data[0] & HAPPENS_TX_FULL)
		harness_tx_full(!port, true);
	length = RTE_MIN(length % 1700, size - 3);
	memcpy(frame.bytes, data + 3, length);
	frame.length = (unsigned)length;
	harness_put(port, &frame);
	return 3 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	unsigned frames = 0;

	if (!started)
		harness_start(2, cli);
	started = true;
	while (size > 3 && frames++ < 64) {
		size_t used = one_frame(data, size);

		data += used;
		size -= used;
	}
	harness_walk();
	harness_tx_full(0, false);
	harness_tx_full(1, false);
	harness_flush();
	if (!harness_balanced() || harness_failures() != 0)
		abort();
	return 0;
}
