/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet memory: hugepages, else a region with transparent huge pages; never 4 KiB unasked. */
#ifndef LINERATE_MEMORY_H
#define LINERATE_MEMORY_H

#include "config.h"

#include <rte_mempool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_pages {
	MEMORY_AUTO,
	MEMORY_HUGEPAGES,
	MEMORY_THP,
	MEMORY_4K,
};

/* Reads the "memory" object. */
void memory_parse(const struct config_node *node);
/* After memory_parse(), where a port is on PCI: its NIC reaches hugepages only, so `auto` means
 * them, and other pages are a mistake. */
void memory_require_hugepages(const struct config_node *node);
/* Before EAL: decides on the pages and adds EAL arguments. Returns their number, or -1 after
 * saying why hugepages cannot be had. */
int memory_eal_arguments(const char **arguments, unsigned max);
/* After EAL: makes the region. Returns 0 or -errno after saying why. */
int memory_start(void);
/* For every allocation that the data path touches. */
int memory_socket(void);
/*
 * Zeroed pages of its own for a table, beside `memory.megabytes`: the kernel gives each page
 * when it is first written, as a huge page where it can. NULL when there is no room.
 */
void *memory_map(size_t bytes);
/* As memory_map(), with all pages there: no first write of a worker's waits for the kernel to
 * clear 2 MB. */
void *memory_map_whole(size_t bytes);
void memory_unmap(void *start, size_t bytes);
/* "hugepages", "thp" or "4k": what the packets really lie on. */
const char *memory_kind(void);
/*
 * A pool of packet buffers with room for frames of `frame_bytes` (FCS included) after the
 * headroom. Returns NULL after saying why.
 */
struct rte_mempool *memory_packet_pool(const char *name, unsigned buffers, uint16_t frame_bytes);

#endif
