/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINERATE_FUZZ_COUNTERS_H
#define LINERATE_FUZZ_COUNTERS_H

/* From here on libFuzzer in this process sees the coverage of child processes. */
void counters_share(void);

#endif
