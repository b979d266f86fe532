/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of RSS's Toeplitz hash, for the virtual card and for devices. */
#ifndef LINERATE_RSS_KEY_H
#define LINERATE_RSS_KEY_H

#include <stdbool.h>
#include <stdint.h>

#define RSS_KEY_BYTES 40

/* With a symmetric key both directions of a flow have the same hash. */
const uint8_t *rss_key(bool symmetric);

#endif
