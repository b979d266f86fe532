/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both directions of a flow must come to one worker. With several workers either the ports' RSS is
 * made to see to it, all ports alike, or packets are handed off by a hash that does.
 */
#ifndef LINERATE_FLOWTABLE_RSS_H
#define LINERATE_FLOWTABLE_RSS_H

#include "handoff/handoff.h"

/* With ports configured. Returns 0, or -errno after saying why it cannot be had. */
int flowtable_rss_create(void);
/* NULL when RSS does it; before flowtable_rss_create() whenever packets may be handed off. */
handoff_hash_t flowtable_steer(void);

#endif
