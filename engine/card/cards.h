/* SPDX-License-Identifier: BSD-3-Clause */
/* All virtual cards of the process: their configuration, and what they are made of. */
#ifndef LINERATE_CARDS_H
#define LINERATE_CARDS_H

#include "core/config.h"
#include "card.h"

/* Reads the "cards" array. */
void cards_parse(const struct config_node *array);
struct card *card_find(const char *name);
/* The card's port that a port object's "card" and "index" name; NULL after counting a mistake. */
struct card_port *card_parse_port(const struct config_node *node);
unsigned cards_count(void);
struct card *card_at(unsigned index);
/* With EAL up; `tx_queues` a port. Returns 0 or -errno after saying why. */
int cards_create(uint16_t tx_queues);

#endif
