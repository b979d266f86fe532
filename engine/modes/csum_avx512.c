/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csum with AVX-512, eight frames at a time. When all eight are plain (IPv4 with a header of 20
 * bytes, no fragment, and all UDP or all TCP) their packets are summed by masked loads that leave
 * both old checksums out; what the header adds is taken off again. Other frames go the scalar way.
 *
 * A first pass over the vector reads, a second one folds the sums, eight at once, and writes: what
 * is stored a packet at a time has left the store buffer before it is loaded as a vector.
 */
#include "csum.h"

#ifdef RTE_ARCH_X86_64
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,bmi2")))

#define GROUP 8u
#define IP4_BYTES 20u
#define IP4_CHECKSUM offsetof(struct rte_ipv4_hdr, hdr_checksum)
#define UDP_CHECKSUM (IP4_BYTES + offsetof(struct rte_udp_hdr, dgram_cksum))
#define TCP_CHECKSUM (IP4_BYTES + offsetof(struct rte_tcp_hdr, cksum))
#define PROTOCOL (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, next_proto_id))
#define BYTES_OF_16(offset) (3ull << (offset))

/*
 * Three words of 8 bytes of each frame of a vector, from the Ethernet type on. Type, version, type
 * of service, length, id; fragment, TTL, protocol, checksum, half the source; the other half,
 * destination, and 2 bytes of the upper layer.
 */
struct csum_work {
	uint64_t first[NODE_VECTOR_MAX] __rte_aligned(64);
	uint64_t second[NODE_VECTOR_MAX] __rte_aligned(64);
	uint64_t third[NODE_VECTOR_MAX] __rte_aligned(64);
	uint64_t packet[NODE_VECTOR_MAX] __rte_aligned(64); /* sum of all but the checksums */
	uint8_t *l3[NODE_VECTOR_MAX];
	uint16_t length[NODE_VECTOR_MAX] __rte_aligned(16);  /* of the frame */
	uint16_t present[NODE_VECTOR_MAX] __rte_aligned(16); /* the upper layer's old checksum */
	uint8_t place[NODE_VECTOR_MAX / GROUP];              /* of that */
};

#define FIRST_MASK 0xffffffull
#define FIRST_PLAIN RTE_STATIC_BSWAP64(0x0800450000000000ull)
#define SECOND_MASK ((uint64_t)CSUM_FRAGMENT_MASK | 0xff000000ull)
#define SECOND_PLAIN(protocol) ((uint64_t)(protocol) << 24)

static __rte_always_inline uint64_t load_64(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

AVX512 static __rte_always_inline __m512i widen(__m512i words)
{
	return _mm512_add_epi64(_mm512_and_si512(words, _mm512_set1_epi64(UINT32_MAX)),
		_mm512_srli_epi64(words, 32));
}

/* The first `count` of 64 bytes. */
AVX512 static __rte_always_inline uint64_t first_bytes(uint64_t mask, unsigned count)
{
	return _bzhi_u64(mask, RTE_MIN(count, 64u));
}

/* Eight sums of 32-bit words of the packet, without its two checksums. */
AVX512 static __rte_always_inline __m512i packet_sums(
	const uint8_t *l3, unsigned total, uint64_t mask)
{
	__m512i sums = widen(_mm512_maskz_loadu_epi8(first_bytes(mask, total), l3));

	for (unsigned at = 64; unlikely(at < total); at += 64)
		sums = _mm512_add_epi64(
			sums, widen(_mm512_maskz_loadu_epi8(
				      first_bytes(UINT64_MAX, total - at), l3 + at)));
	return sums;
}

/* Each vector's eight sums become one. */
AVX512 static __rte_always_inline __m512i reduce_eight(const __m512i *sums)
{
	__m512i pairs[4], fours[2];

	for (size_t i = 0; i < 4; i++)
		pairs[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(sums[2 * i], sums[2 * i + 1]),
			_mm512_unpackhi_epi64(sums[2 * i], sums[2 * i + 1]));
	for (size_t i = 0; i < 2; i++)
		fours[i] =
			_mm512_add_epi64(_mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0x88),
				_mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0xdd));
	return _mm512_add_epi64(_mm512_shuffle_i64x2(fours[0], fours[1], 0x88),
		_mm512_shuffle_i64x2(fours[0], fours[1], 0xdd));
}

/* Eight checksums of eight sums below 2^48, as csum_fold() makes them. */
AVX512 static __rte_always_inline __m128i fold_eight(__m512i sums)
{
	const __m512i low = _mm512_set1_epi64(UINT16_MAX);

	sums = widen(sums);
	for (unsigned i = 0; i < 3; i++)
		sums = _mm512_add_epi64(_mm512_and_si512(sums, low), _mm512_srli_epi64(sums, 16));
	return _mm512_cvtepi64_epi16(_mm512_xor_si512(sums, low));
}

/* Reads 48 bytes whatever the frame's length: buffers have them. */
AVX512 static __rte_always_inline __m512i read_frame(struct csum_work *work, unsigned i,
	unsigned place, const struct mac_rewrite *rewrite, const struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint8_t *l3 = frame + RTE_ETHER_HDR_LEN;
	uint64_t first = load_64(l3 - 2);
	unsigned length = mbuf->data_len;
	unsigned total = rte_be_to_cpu_16((uint16_t)(first >> 32));

	work->l3[i] = l3;
	work->first[i] = first;
	work->second[i] = load_64(l3 + 6);
	work->third[i] = load_64(l3 + 14);
	work->length[i] = (uint16_t)length;
	memcpy(&work->present[i], l3 + place, sizeof(work->present[i]));
	if (likely(length >= RTE_ETHER_HDR_LEN))
		mac_rewrite(frame, rewrite->first, rewrite->last);
	return packet_sums(
		l3, RTE_MIN(total, length), ~(BYTES_OF_16(IP4_CHECKSUM) | BYTES_OF_16(place)));
}

/* All eight are plain and have the upper layer whose checksum is at `place`. */
AVX512 static __rte_always_inline bool group_plain(
	const struct csum_work *work, unsigned first, unsigned place)
{
	bool tcp = place == TCP_CHECKSUM;
	unsigned least = IP4_BYTES +
			 (unsigned)(tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr));
	__m512i a = _mm512_load_si512(&work->first[first]);
	__m512i b = _mm512_load_si512(&work->second[first]);
	__m128i length = _mm_load_si128((const __m128i *)&work->length[first]);
	__m128i present = _mm_load_si128((const __m128i *)&work->present[first]);
	/* In host order. */
	__m128i total = _mm512_cvtepi64_epi16(_mm512_srli_epi64(a, 32));
	__mmask8 odd;

	total = _mm_or_si128(_mm_slli_epi16(total, 8), _mm_srli_epi16(total, 8));
	odd = _mm512_cmpneq_epi64_mask(_mm512_and_si512(a, _mm512_set1_epi64(FIRST_MASK)),
		      _mm512_set1_epi64(FIRST_PLAIN)) |
	      _mm512_cmpneq_epi64_mask(_mm512_and_si512(b, _mm512_set1_epi64(SECOND_MASK)),
		      _mm512_set1_epi64(
			      tcp ? SECOND_PLAIN(IPPROTO_TCP) : SECOND_PLAIN(IPPROTO_UDP))) |
	      _mm_cmplt_epu16_mask(total, _mm_set1_epi16((int16_t)least)) |
	      _mm_cmplt_epu16_mask(
		      _mm_subs_epu16(length, _mm_set1_epi16(RTE_ETHER_HDR_LEN)), total);
	/* RFC 768: UDP with 0 has none. */
	return (odd | (tcp ? 0 : _mm_cmpeq_epi16_mask(present, _mm_setzero_si128()))) == 0;
}

AVX512 static __rte_always_inline void read_group(struct csum_work *work, struct rte_mbuf **mbufs,
	unsigned first, const struct mac_rewrite *rewrite)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbufs[first], const uint8_t *);
	unsigned place = frame[PROTOCOL] == IPPROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
	__m512i sums[GROUP];

	for (unsigned i = 0; i < GROUP; i++)
		sums[i] = read_frame(work, first + i, place, rewrite, mbufs[first + i]);
	_mm512_store_si512(&work->packet[first], reduce_eight(sums));
	work->place[first / GROUP] = (uint8_t)place;
}

AVX512 static __rte_always_inline void write_group(
	const struct csum_work *work, unsigned first, unsigned place)
{
	const __m512i low = _mm512_set1_epi64(UINT16_MAX);
	__m512i a = _mm512_load_si512(&work->first[first]);
	__m512i b = _mm512_load_si512(&work->second[first]);
	__m512i c = _mm512_load_si512(&work->third[first]);
	/* The header's words but the addresses and the checksum. */
	__m512i rest = _mm512_add_epi64(widen(_mm512_srli_epi64(a, 16)),
		_mm512_and_si512(b, _mm512_set1_epi64(UINT32_MAX)));
	__m512i addresses =
		_mm512_add_epi64(_mm512_srli_epi64(b, 48), widen(_mm512_slli_epi64(c, 16)));
	/* Protocol, and the packet's length less 20: ~20 is -20 to such a sum. Halves of words
	 * count differently in `rest` and `packet`: a multiple of 65535, which adds nothing,
	 * keeps their difference above 0. */
	__m512i pseudo = _mm512_add_epi64(_mm512_and_si512(_mm512_srli_epi64(a, 32), low),
		_mm512_set1_epi64(
			(65535ll << 18) + RTE_BE16((uint16_t)~IP4_BYTES) +
			(place == TCP_CHECKSUM ? RTE_BE16(IPPROTO_TCP) : RTE_BE16(IPPROTO_UDP))));
	__m512i packet = _mm512_load_si512(&work->packet[first]);
	__m128i headers = fold_eight(_mm512_add_epi64(rest, addresses));
	__m128i uppers = fold_eight(_mm512_add_epi64(_mm512_sub_epi64(packet, rest), pseudo));
	uint16_t header[GROUP] __rte_aligned(16), upper[GROUP] __rte_aligned(16);

	/* RFC 768: a sum of 0 is sent as all ones. */
	if (place == UDP_CHECKSUM)
		uppers = _mm_or_si128(uppers, _mm_cmpeq_epi16(uppers, _mm_setzero_si128()));
	_mm_store_si128((__m128i *)header, headers);
	_mm_store_si128((__m128i *)upper, uppers);
	for (unsigned i = 0; i < GROUP; i++) {
		memcpy(work->l3[first + i] + IP4_CHECKSUM, &header[i], sizeof(header[i]));
		memcpy(work->l3[first + i] + place, &upper[i], sizeof(upper[i]));
	}
}

static __rte_noinline bool scalar_group(struct rte_mbuf **mbufs, unsigned count)
{
	bool runts = false;

	for (unsigned i = 0; i < count; i++) {
		if (mbufs[i]->data_len >= RTE_ETHER_HDR_LEN)
			csum_frame(rte_pktmbuf_mtod(mbufs[i], uint8_t *), mbufs[i]->data_len);
		else
			runts = true;
	}
	return runts;
}

AVX512 bool csum_frames_avx512(
	struct rte_mbuf **mbufs, uint16_t count, const struct mac_rewrite *rewrite)
{
	unsigned whole = count / GROUP * GROUP;
	struct csum_work work;
	bool runts = false;

	for (unsigned first = 0; first < whole; first += GROUP) {
		if (likely(first + GROUP < whole))
			for (unsigned i = first + GROUP; i < first + 2 * GROUP; i++)
				vector_prefetch_data(mbufs[i]);
		read_group(&work, mbufs, first, rewrite);
	}
	for (unsigned first = 0; first < whole; first += GROUP) {
		unsigned place = work.place[first / GROUP];

		if (likely(group_plain(&work, first, place)))
			write_group(&work, first, place);
		else
			runts |= scalar_group(mbufs + first, GROUP);
	}
	return runts | csum_frames_scalar(mbufs + whole, (uint16_t)(count - whole), rewrite);
}
#endif
