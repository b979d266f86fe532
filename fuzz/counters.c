/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coverage counters in shared memory. Not compiled with coverage itself: the compiler then
 * declares the two names below in its own way.
 */
#include "counters.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The section of the counters, which the linker puts together of all objects'. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

/* Pages hold what ASan keeps between variables too. */
static __attribute__((no_sanitize("address"))) void copy_pages(
	volatile uint8_t *to, const volatile uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = from[i];
}

void counters_share(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)__start___sancov_cntrs & ~(page - 1);
	size_t bytes = ((uintptr_t)__stop___sancov_cntrs - start + page - 1) & ~(page - 1);
	uint8_t *before = malloc(bytes);

	if (before == NULL)
		abort();
	copy_pages(before, (const uint8_t *)start, bytes);
	if (mmap((void *)start, bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
	copy_pages((uint8_t *)start, before, bytes);
	free(before);
}
