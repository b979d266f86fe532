/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINERATE_FUZZ_COUNTERS_H
#define LINERATE_FUZZ_COUNTERS_H

/* What child processes reach from here on is seen by libFuzzer in this one. */
void counters_share(void);

#endif
