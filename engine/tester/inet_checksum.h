/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum: ones' complement sums of 16-bit words (RFC 1071). They are the same in
 * either byte order, as long as all words of a sum are in one.
 */
#ifndef LINERATE_INET_CHECKSUM_H
#define LINERATE_INET_CHECKSUM_H

#include <stdint.h>

/* A sum of any words, as one of 16 bits. */
static inline uint16_t inet_checksum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* The checksum of what sums up to that. */
static inline uint16_t inet_checksum(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The same of a sum that a few 32-bit words were added to: each is two 16-bit words. */
static inline uint16_t inet_checksum_wide(uint64_t sum)
{
	return inet_checksum((uint32_t)((sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32)));
}

#endif
