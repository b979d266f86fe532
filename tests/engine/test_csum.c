/* SPDX-License-Identifier: BSD-3-Clause */
/* csum with wide registers does to each frame, byte for byte, what it does in plain C. */
#include "modes/csum.h"
#include "test.h"

#include <rte_cpuflags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES NODE_VECTOR_MAX
#define BUFFER_BYTES 2048u
#define OFFSET 128u
#define ROUNDS 600u

static struct rte_mbuf mbufs[2][FRAMES];
static uint8_t buffers[2][FRAMES][BUFFER_BYTES];
static const struct mac_rewrite rewrite = {.first = 0x0706050403020100ull, .last = 0x0b0a0908};

static unsigned any(unsigned below)
{
	return (unsigned)rand() % below;
}

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* A whole packet of 28 to 1400 bytes, most of them of 46. */
static unsigned make_plain(uint8_t *frame, uint8_t protocol, bool zeros)
{
	unsigned upper = protocol == 6 ? 20 : 8, total = 20 + upper + 18;

	if (any(4) == 0)
		total = 20 + upper + any(1380);
	for (unsigned i = 0; i < 14 + total; i++)
		frame[i] = zeros ? 0 : (uint8_t)rand();
	put16(frame + 12, 0x0800);
	frame[14] = 0x45;
	put16(frame + 16, total);
	put16(frame + 20, any(2) << 14);
	frame[23] = protocol;
	put16(frame + 34 + (protocol == 6 ? 16 : 6), 1 + any(65535));
	return 14 + total + (any(2) == 0 ? any(6) : 0);
}

/* One that is not as the others: a bit turned over, cut short, or none of it right. */
static unsigned make_odd(uint8_t *frame, unsigned length)
{
	switch (any(4)) {
	case 0:
		frame[12 + any(26)] ^= (uint8_t)(1u << any(8));
		return length;
	case 1:
		return any(length + 1);
	case 2:
		put16(frame + 40, 0);
		return length;
	default:
		for (unsigned i = 0; i < length; i++)
			frame[i] = (uint8_t)rand();
		return length;
	}
}

static void make_frames(unsigned odd_in, unsigned protocols)
{
	uint8_t protocol = any(2) == 0 ? 17 : 6;

	for (unsigned i = 0; i < FRAMES; i++) {
		uint8_t *frame = buffers[0][i] + OFFSET;
		unsigned length;

		if (protocols == 2 && any(20) == 0)
			protocol ^= 17 ^ 6;
		length = make_plain(frame, protocol, any(50) == 0);
		if (odd_in != 0 && any(odd_in) == 0)
			length = make_odd(frame, length);
		for (unsigned side = 0; side < 2; side++) {
			mbufs[side][i].buf_addr = buffers[side][i];
			mbufs[side][i].data_off = OFFSET;
			mbufs[side][i].data_len = (uint16_t)length;
		}
	}
	memcpy(buffers[1], buffers[0], sizeof(buffers[0]));
}

static void check_variant(csum_frames_t variant)
{
	static const unsigned odd_in[] = {0, 5, 100};
	struct rte_mbuf *vectors[2][FRAMES];

	for (unsigned i = 0; i < FRAMES; i++)
		for (unsigned side = 0; side < 2; side++)
			vectors[side][i] = &mbufs[side][i];
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint16_t count = (uint16_t)(round % 3 == 0 ? FRAMES : 1 + any(FRAMES));

		make_frames(odd_in[round % 3], 1 + any(2));
		CHECK_EQUAL(variant(vectors[0], count, &rewrite),
			csum_frames_scalar(vectors[1], count, &rewrite));
		CHECK(memcmp(buffers[0], buffers[1], sizeof(buffers[0])) == 0);
	}
}

static void avx512(void)
{
#ifdef RTE_ARCH_X86_64
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0) {
		check_variant(csum_frames_avx512);
		return;
	}
#endif
	printf("this machine has no AVX-512: not tested\n");
}

static void selected(void)
{
	check_variant(csum_frames_select());
}

int main(void)
{
	static const struct test_case cases[] = {
		{"AVX-512 as plain C", avx512},
		{"the one that is chosen here", selected},
	};

	srand(1);
	return TEST_RUN(cases);
}
