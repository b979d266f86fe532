/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <dirent.h>
#include <errno.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_NAME "linerate"
#define PAGE_BYTES ((size_t)4096)
#define HUGE_BYTES ((size_t)2 << 20)
#define HUGEPAGES_FOLDER "/sys/kernel/mm/hugepages"

static enum memory_pages wanted;
static enum memory_pages got;
static bool required;
static unsigned megabytes = MEMORY_MEGABYTES;
static int socket_id = SOCKET_ID_ANY;
static char size_argument[16];

void memory_parse(const struct config_node *node)
{
	static const char *const pages[] = {"auto", "hugepages", "thp", "4k", NULL};

	required = false;
	if (!config_object(node, "pages", "megabytes"))
		return;
	wanted = (enum memory_pages)config_choice(node, "pages", pages, MEMORY_AUTO);
	megabytes = (unsigned)config_u64(node, "megabytes", MEMORY_MEGABYTES, 64, 1 << 20);
}

void memory_require_hugepages(const struct config_node *node)
{
	struct config_node pages = config_child(node, "pages");

	required = true;
	if (wanted == MEMORY_THP || wanted == MEMORY_4K)
		config_mistake(&pages, "expected hugepages or auto with a PCI port: a NIC cannot "
				       "reach other pages");
}

static size_t number_in(const char *folder, const char *file)
{
	char path[512];
	size_t number = 0;
	FILE *stream;

	snprintf(path, sizeof(path), HUGEPAGES_FOLDER "/%s/%s", folder, file);
	stream = fopen(path, "re");
	if (stream == NULL)
		return 0;
	if (fscanf(stream, "%zu", &number) != 1)
		number = 0;
	fclose(stream);
	return number;
}

/* Counts pages of all sizes, as EAL takes them; those reserved by others are not free. */
static size_t free_hugepage_bytes(void)
{
	DIR *folder = opendir(HUGEPAGES_FOLDER);
	const struct dirent *entry;
	size_t bytes = 0, kilobytes;

	if (folder == NULL)
		return 0;
	while ((entry = readdir(folder)) != NULL) {
		size_t pages, reserved;

		if (sscanf(entry->d_name, "hugepages-%zukB", &kilobytes) != 1)
			continue;
		pages = number_in(entry->d_name, "free_hugepages");
		reserved = number_in(entry->d_name, "resv_hugepages");
		bytes += (pages - RTE_MIN(pages, reserved)) * kilobytes << 10;
	}
	closedir(folder);
	return bytes;
}

int memory_eal_arguments(const char **arguments, unsigned max)
{
	size_t needed = ((size_t)megabytes + MEMORY_EAL_MEGABYTES) << 20;
	size_t free_bytes = free_hugepage_bytes();
	unsigned count = 0;

	got = wanted;
	if (wanted == MEMORY_AUTO)
		got = required || free_bytes >= needed ? MEMORY_HUGEPAGES : MEMORY_THP;
	if (got == MEMORY_HUGEPAGES && free_bytes < needed) {
		fprintf(stderr,
			"memory.pages: %s hugepages, %zu MB needed and %zu MB free; "
			"try 'sudo linerate doctor --fix'\n",
			required ? "a PCI port needs" : "expected", needed >> 20, free_bytes >> 20);
		return -1;
	}
	if (max < 4)
		return -1;
	if (got == MEMORY_HUGEPAGES) {
		arguments[count++] = "--in-memory";
		return (int)count;
	}
	arguments[count++] = "--no-huge";
	arguments[count++] = "--no-shconf";
	snprintf(size_argument, sizeof(size_argument), "-m%u", got == MEMORY_4K ? megabytes : 96);
	arguments[count++] = size_argument;
	return (int)count;
}

/* Bytes of [start, start + bytes) that the kernel backs with huge pages. */
static size_t huge_bytes_of(const void *start, size_t bytes)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	uintptr_t from = (uintptr_t)start, first, last;
	bool inside = false;
	size_t kilobytes, huge = 0;
	char line[256];

	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
			inside = first < from + bytes && last > from;
		else if (inside && sscanf(line, "AnonHugePages: %zu kB", &kilobytes) == 1)
			huge += kilobytes << 10;
	}
	fclose(file);
	return huge;
}

static void touch(void *start, size_t bytes)
{
	for (size_t offset = 0; offset < bytes; offset += PAGE_BYTES)
		*(volatile char *)RTE_PTR_ADD(start, offset) = 0;
}

/* One anonymous region on transparent huge pages, given to DPDK as an external heap. */
static int region_start(void)
{
	size_t bytes = (size_t)megabytes << 20, huge;
	void *map, *base;
	int rc;

	map = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		fprintf(stderr, "memory: cannot map %u MB: %s\n", megabytes, strerror(errno));
		return -ENOMEM;
	}
	base = RTE_PTR_ALIGN_CEIL(map, HUGE_BYTES);
	if (madvise(base, bytes, MADV_HUGEPAGE) != 0)
		fprintf(stderr, "memory: the kernel refuses transparent huge pages: %s\n",
			strerror(errno));
	touch(base, bytes);
	huge = huge_bytes_of(base, bytes);
	if (huge < bytes / 10 * 9) {
		fprintf(stderr,
			"memory: only %zu of %u MB are on huge pages: expect lower rates; see "
			"/sys/kernel/mm/transparent_hugepage/enabled (want madvise or always), or "
			"reserve hugepages\n",
			huge >> 20, megabytes);
		got = MEMORY_4K;
	}
	rc = rte_malloc_heap_create(HEAP_NAME);
	if (rc == 0)
		rc = rte_malloc_heap_memory_add(
			HEAP_NAME, base, bytes, NULL, (unsigned)(bytes / HUGE_BYTES), HUGE_BYTES);
	if (rc == 0)
		rc = socket_id = rte_malloc_heap_get_socket(HEAP_NAME);
	if (rc < 0) {
		fprintf(stderr, "memory: DPDK does not take the region: %s\n",
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	return 0;
}

int memory_start(void)
{
	return got == MEMORY_THP ? region_start() : 0;
}

int memory_socket(void)
{
	return socket_id;
}

static size_t map_bytes(size_t bytes)
{
	return RTE_ALIGN_CEIL(bytes, HUGE_BYTES);
}

void *memory_map(size_t bytes)
{
	size_t whole = map_bytes(bytes);
	void *start = MAP_FAILED, *aligned;

	if (got == MEMORY_HUGEPAGES)
		start = mmap(NULL, whole, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (start != MAP_FAILED)
		return start;
	start = mmap(NULL, whole + HUGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	/* Only whole huge pages: what is beside them goes back. */
	aligned = RTE_PTR_ALIGN_CEIL(start, HUGE_BYTES);
	if (aligned != start)
		munmap(start, RTE_PTR_DIFF(aligned, start));
	munmap(RTE_PTR_ADD(aligned, whole), HUGE_BYTES - RTE_PTR_DIFF(aligned, start));
	if (got != MEMORY_4K)
		(void)madvise(aligned, whole, MADV_HUGEPAGE);
	return aligned;
}

void *memory_map_whole(size_t bytes)
{
	void *start = memory_map(bytes);

	if (start != NULL)
		touch(start, bytes);
	return start;
}

void memory_unmap(void *start, size_t bytes)
{
	munmap(start, map_bytes(bytes));
}

const char *memory_kind(void)
{
	return got == MEMORY_HUGEPAGES ? "hugepages" : got == MEMORY_THP ? "thp" : "4k";
}

struct rte_mempool *memory_packet_pool(const char *name, unsigned buffers, uint16_t frame_bytes)
{
	/* Frames are copied in whole cache lines: leave room for the last. */
	uint16_t room = RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(frame_bytes, 64) + 64;
	struct rte_pktmbuf_pool_private private_data = {
		.mbuf_data_room_size = RTE_MAX(room, RTE_MBUF_DEFAULT_BUF_SIZE),
	};
	/* The pool's objects need not be contiguous in IO addresses: without this, and without
	 * hugepages, each mbuf would start its own 4 KiB page and they all would compete for the
	 * same few cache sets. */
	struct rte_mempool *pool = rte_mempool_create_empty(name, buffers,
		sizeof(struct rte_mbuf) + private_data.mbuf_data_room_size,
		RTE_MEMPOOL_CACHE_MAX_SIZE, sizeof(private_data), socket_id,
		got == MEMORY_HUGEPAGES ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG);

	if (pool != NULL) {
		rte_pktmbuf_pool_init(pool, &private_data);
		if (rte_mempool_populate_default(pool) >= 0) {
			rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
			return pool;
		}
	}
	fprintf(stderr,
		"pool %s: no room for %u buffers of %u bytes (%s); raise memory.megabytes\n", name,
		buffers, private_data.mbuf_data_room_size, rte_strerror(rte_errno));
	return NULL;
}
