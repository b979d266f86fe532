/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that the card has taken from the wire, into the DUT's rx rings. */
#ifndef LINERATE_DELIVER_H
#define LINERATE_DELIVER_H

#include "card.h"

#include <rte_mbuf.h>

/* Once, with EAL up: chooses how to copy. */
void card_deliver_start(void);
/* Copies the frames, at most 256, to where rules or RSS want them; what finds no posted buffer is
 * counted as missed. The mbufs stay the caller's. */
void card_deliver(struct card_port *port, struct rte_mbuf **mbufs, uint16_t count);

#endif
