/* SPDX-License-Identifier: BSD-3-Clause */
/* A router with all kinds of entries, for arbitrary frames. */
#ifndef LINERATE_ROUTER_CLI_H
#define LINERATE_ROUTER_CLI_H

static const char router_cli[] =
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

#endif
