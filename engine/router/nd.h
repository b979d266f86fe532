/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery's messages (RFC 4861 4.3, 4.4): solicitation and advertisement. */
#ifndef LINERATE_ND_H
#define LINERATE_ND_H

#include "interface6.h"
#include "packet6.h"

struct nd_message {
	uint8_t type;   /* ND_NEIGHBOR_SOLICIT or _ADVERT */
	uint8_t option; /* ND_OPT_SOURCE_LINKADDR or _TARGET_LINKADDR: the interface's address */
	uint8_t flags;
	const uint8_t *source, *destination, *target;
	const struct rte_ether_addr *mac; /* that it goes to; NULL: the group's */
};

/* Makes the mbuf such a message; it goes out where `interface` is. */
void nd_fill(
	struct rte_mbuf *mbuf, const struct interface *interface, const struct nd_message *message);

#endif
