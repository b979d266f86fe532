/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 prefixes, each with its next hop: a hash table with open addressing, 8 bytes an entry.
 * Addresses are in host order, with no bit set beyond the length.
 */
#ifndef LINERATE_PREFIX_TABLE_H
#define LINERATE_PREFIX_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Next hops are less than this. */
#define PREFIX_NEXT_HOPS (1u << 24)

/* Empty, with room for that many prefixes; it grows with more. Returns 0 or -errno. */
int prefix_table_create(unsigned prefixes);
/* Adds it or changes its next hop. Returns 0 or -ENOMEM. */
int prefix_table_set(uint32_t prefix, uint8_t length, uint32_t next_hop);
bool prefix_table_find(uint32_t prefix, uint8_t length, uint32_t *next_hop);
/* The longest one shorter than `length` that holds the prefix; false when there is none. */
bool prefix_table_parent(
	uint32_t prefix, uint8_t length, uint8_t *parent_length, uint32_t *next_hop);
/* It must be there. */
void prefix_table_remove(uint32_t prefix, uint8_t length);
unsigned prefix_table_count(void);

#endif
