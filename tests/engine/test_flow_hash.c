/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow hash: the same for all of a flow, and evenly spread over the buckets. */
#include "core/path_hash.h"
#include "test.h"

#include <stdbool.h>

#define FLOWS 10240
#define BUCKETS 256
/* Chi-square with 255 degrees of freedom is above this once in 10^9 (255 + 6 · sqrt(510) + …). */
#define CHI_SQUARE_MAX 410.0

static unsigned seed = 20240229;

static uint32_t any(void)
{
	return (uint32_t)rand_r(&seed) << 16 ^ (uint32_t)rand_r(&seed);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = rte_cpu_to_be_32(value);
	memcpy(at, &value, sizeof(value));
}

static void ip4(uint8_t *ip, uint32_t src, uint32_t dst, uint8_t protocol, uint32_t ports)
{
	memset(ip, 0, 64);
	ip[0] = 0x45;
	ip[9] = protocol;
	put32(ip + 12, src);
	put32(ip + 16, dst);
	put32(ip + 20, ports);
}

/* A bit at a time, from the polynomial's definition (RFC 3720 12.1). */
static uint32_t crc_of_bits(uint32_t crc, uint64_t word)
{
	for (unsigned bit = 0; bit < 64; bit++, word >>= 1)
		crc = crc >> 1 ^ (((crc ^ (uint32_t)word) & 1) ? 0x82f63b78u : 0);
	return crc;
}

static void twins(void)
{
	for (unsigned round = 0; round < 10000; round++) {
		uint64_t word = (uint64_t)any() << 32 | any();
		uint32_t hash = any();

		CHECK_EQUAL(flow_hash_word(hash, word), crc_of_bits(hash, word));
		CHECK_EQUAL(rte_hash_crc_8byte(word, hash), crc_of_bits(hash, word));
	}
}

static double chi_square(const unsigned *counts, unsigned buckets, unsigned flows)
{
	double due = (double)flows / buckets, sum = 0;

	for (unsigned b = 0; b < buckets; b++)
		sum += (counts[b] - due) * (counts[b] - due) / due;
	return sum;
}

enum pattern {
	RANDOM,
	NEXT_DESTINATION,
	NEXT_SOURCE,
	BOTH_ADDRESSES,
	NEXT_PORT,
	BOTH_PORTS,
	NEXT_SUBNET,
	PATTERNS,
};

static void flow(uint8_t *ip, enum pattern pattern, uint32_t i)
{
	uint32_t src = 0x10000001, dst = 0x30000001, ports = 0x0400000c;

	switch (pattern) {
	case RANDOM:
		src = any();
		dst = any();
		ports = any();
		break;
	case NEXT_DESTINATION:
		dst += i;
		break;
	case NEXT_SOURCE:
		src += i;
		break;
	case BOTH_ADDRESSES:
		src += i;
		dst += i;
		break;
	case NEXT_PORT:
		ports += i << 16;
		break;
	case BOTH_PORTS:
		ports += i << 16 | i;
		break;
	default:
		dst += i << 8;
		break;
	}
	ip4(ip, src, dst, 17, ports);
}

static void spread(void)
{
	for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
		unsigned counts[BUCKETS] = {0}, halves[2] = {0};
		uint8_t ip[64];

		for (uint32_t i = 0; i < FLOWS; i++) {
			uint32_t hash;

			flow(ip, pattern, i);
			hash = flow_hash_ip4(ip, 64);
			counts[hash >> 24]++;
			halves[hash >> 31]++;
		}
		if (chi_square(counts, BUCKETS, FLOWS) > CHI_SQUARE_MAX ||
			chi_square(halves, 2, FLOWS) > 40) {
			fprintf(stderr, "pattern %u: chi-square %.0f, %.0f\n", pattern,
				chi_square(counts, BUCKETS, FLOWS), chi_square(halves, 2, FLOWS));
			CHECK(false);
		}
		CHECK(true);
	}
}

static void ip6_spread(void)
{
	/* Varied bytes: of the source, of the destination, of the ports, of the label. */
	static const unsigned places[] = {8 + 14, 24 + 14, 40, 42, 2};

	for (unsigned p = 0; p < RTE_DIM(places); p++) {
		unsigned counts[BUCKETS] = {0};
		uint8_t ip[64] = {0x60};

		ip[6] = 6;
		for (uint32_t i = 0; i < FLOWS; i++) {
			ip[places[p]] = (uint8_t)(i >> 8);
			ip[places[p] + 1] = (uint8_t)i;
			counts[flow_hash_ip6(ip, 64) >> 24]++;
		}
		CHECK(chi_square(counts, BUCKETS, FLOWS) < CHI_SQUARE_MAX);
	}
}

/* Fields that a flow's packets do not share have no part in it. */
static void same_flow(void)
{
	uint8_t ip[64], other[64];

	ip4(ip, 1, 2, 6, 0x00500051);
	memcpy(other, ip, sizeof(ip));
	for (unsigned i = 1; i < 12; i++)
		if (i != 9 && i != 6 && i != 7)
			other[i] = 0x5a;
	other[6] = 0x40; /* don't fragment */
	memset(other + 24, 0x77, 40);
	CHECK_EQUAL(flow_hash_ip4(ip, 60), flow_hash_ip4(other, 64));
	other[20] ^= 1;
	CHECK(flow_hash_ip4(ip, 60) != flow_hash_ip4(other, 64));
}

static void fragments(void)
{
	uint8_t ip[64], other[64];

	ip4(ip, 1, 2, 17, 0x00500051);
	ip4(other, 1, 2, 17, 0x12345678);
	ip[6] = 0x20;   /* the first of several */
	other[7] = 185; /* the last */
	CHECK_EQUAL(flow_hash_ip4(ip, 64), flow_hash_ip4(other, 64));
	other[12] ^= 1;
	CHECK(flow_hash_ip4(ip, 64) != flow_hash_ip4(other, 64));
}

/* Protocols without ports, options before them, and packets too short for them. */
static void ports_where_there_are(void)
{
	uint8_t ip[80], other[80];

	for (unsigned protocol = 0; protocol < 256; protocol++) {
		bool has = protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 ||
			   protocol == 136;

		ip4(ip, 1, 2, (uint8_t)protocol, 1);
		ip4(other, 1, 2, (uint8_t)protocol, 2);
		CHECK((flow_hash_ip4(ip, 24) != flow_hash_ip4(other, 24)) == has);
		CHECK_EQUAL(flow_hash_ip4(ip, 23), flow_hash_ip4(other, 23));
		CHECK_EQUAL(flow_hash_has_ports((uint8_t)protocol), has);
	}
	ip4(ip, 1, 2, 17, 1);
	ip4(other, 1, 2, 17, 2);
	ip[0] = other[0] = 0x46;
	CHECK_EQUAL(flow_hash_ip4(ip, 64), flow_hash_ip4(other, 64));
	other[24] = 1;
	CHECK(flow_hash_ip4(ip, 64) != flow_hash_ip4(other, 64));
}

static void ip6_parts(void)
{
	uint8_t ip[64] = {0x60}, other[64];

	ip[6] = 17;
	for (unsigned i = 0; i < 44; i++) {
		/* Not: version and class, length, hop limit. */
		bool part = i == 2 || i == 3 || i == 6 || i >= 8;

		memcpy(other, ip, sizeof(ip));
		other[i] ^= i == 6 ? 17 ^ 6 : 0x80;
		CHECK((flow_hash_ip6(ip, 64) != flow_hash_ip6(other, 64)) == part);
		if (i >= 40)
			CHECK_EQUAL(flow_hash_ip6(ip, 43), flow_hash_ip6(other, 43));
	}
}

static const struct test_case cases[] = {
	{"CRC32C in hardware and software", twins},
	{"spread of IPv4 flows", spread},
	{"spread of IPv6 flows", ip6_spread},
	{"one flow, one hash", same_flow},
	{"all fragments of a packet go one way", fragments},
	{"ports where there are any", ports_where_there_are},
	{"RFC 6438: what of an IPv6 packet counts", ip6_parts},
};
TEST_MAIN(cases)
