/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK for a test program: no huge pages, no devices, nothing outside this process. */
#ifndef LINERATE_TEST_EAL_H
#define LINERATE_TEST_EAL_H

#include <rte_common.h>
#include <rte_eal.h>
#include <stdbool.h>

/* `more` is another argument, such as "--lcores=0@0,1@0". Returns whether EAL started. */
static inline bool eal_start(const char *megabytes, const char *more)
{
	char *arguments[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--iova-mode=va",
		"--no-telemetry", "--log-level=warning", "--log-level=lib.eal:error", "-m",
		(char *)(uintptr_t)megabytes, (char *)(uintptr_t)more, NULL};

	return rte_eal_init(RTE_DIM(arguments) - 1, arguments) >= 0;
}

#endif
