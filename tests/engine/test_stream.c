/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes in a stream; frames themselves are checked against scapy in tests/system. */
#include "core/signature.h"
#include "stream_text.h"
#include "test.h"

#define LAYERS "\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}]"

static void mistakes_are_found(void)
{
	static const char *const texts[] = {
		"{\"layers\": []}",
		"{\"layers\": [{\"ipv4\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"udp\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"ipv4\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"udp\": {}}, {\"tcp\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {}}, {\"mpls\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"nonsense\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}, \"ipv4\": {}}]}",
		"{\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"1.2.3\"}}]}",
		"{\"frame_bytes\": 63, " LAYERS "}",
		"{\"frame_bytes\": 9729, " LAYERS "}",
		"{\"at\": [0.5], " LAYERS "}",
		"{\"places\": [0, 1], \"at\": [0.5], " LAYERS "}",
		"{\"places\": [0], \"at\": [1], " LAYERS "}",
		"{\"places\": [0], \"at\": [\"soon\"], " LAYERS "}",
		"{\"places\": [0], \"at\": [0.5], \"burst\": 7, " LAYERS "}",
		"{\"rate\": {}, " LAYERS "}",
		"{\"rate\": {\"pps\": 1, \"percent\": 5}, " LAYERS "}",
		"{\"rate\": {\"percent\": 101}, " LAYERS "}",
		"{\"frame_bytes\": 64, \"layers\": [{\"ethernet\": {}}, {\"ipv6\": {}}, {\"udp\": "
		"{}}]}",
		"{\"modifiers\": [{\"field\": \"ipv6.src\"}], " LAYERS "}",
		"{\"modifiers\": [{\"field\": \"tcp.src\"}], " LAYERS "}",
		"{\"modifiers\": [{\"field\": \"mpls.label\"}], " LAYERS "}",
		"{\"modifiers\": [{\"field\": \"udp.src\", \"min\": 5, \"max\": 4}], " LAYERS "}",
		"{\"modifiers\": [{\"field\": \"udp.src\", \"max\": 65536}], " LAYERS "}",
		"{\"port\": \"nowhere\", " LAYERS "}",
	};

	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		unsigned mistakes;
		struct stream *stream = stream_of_text(texts[i], &mistakes);

		CHECK(stream == NULL);
		CHECK(mistakes >= 1 && mistakes < 1000);
		stream_free(stream);
	}
}

/* Buffers that go from stream to stream hold what a fresh one would. */
static void reused_buffers_are_clean(void)
{
	static const char *const texts[] = {
		"{\"frame_bytes\": 200, \"layers\": [{\"ethernet\": {}}, {\"vlan\": {}}, "
		"{\"ipv6\": {}}, {\"tcp\": {}}]}",
		"{\"frame_bytes\": 64, " LAYERS "}",
		"{\"frame_bytes\": 131, " LAYERS "}",
	};
	struct stream *streams[RTE_DIM(texts)];
	struct rte_mbuf used, fresh, *one = &used, *other = &fresh;
	static uint8_t used_data[512], fresh_data[512];
	unsigned mistakes;

	for (unsigned i = 0; i < RTE_DIM(texts); i++) {
		streams[i] = stream_of_text(texts[i], &mistakes);
		CHECK(streams[i] != NULL);
		streams[i]->id = (uint16_t)i;
	}
	memset(&used, 0, sizeof(used));
	used.buf_addr = used_data;
	srand(5);
	for (unsigned round = 0; round < 500; round++) {
		unsigned pick = (unsigned)rand() % RTE_DIM(texts);
		struct stream twin = *streams[pick];

		memset(&fresh, 0, sizeof(fresh));
		memset(fresh_data, 0, sizeof(fresh_data));
		fresh.buf_addr = fresh_data;
		stream_fill(streams[pick], &one, 1);
		stream_fill(&twin, &other, 1);
		CHECK_EQUAL(used.data_len, fresh.data_len);
		CHECK(memcmp(used_data, fresh_data, used.data_len) == 0);
	}
	for (unsigned i = 0; i < RTE_DIM(texts); i++)
		stream_free(streams[i]);
}

static void signature_stands_at_an_even_offset(void)
{
	for (unsigned length = 60; length < 200; length++) {
		CHECK(signature_offset(length) % 2 == 0);
		CHECK(signature_offset(length) + SIGNATURE_BYTES <= length);
		CHECK(signature_offset(length) + SIGNATURE_BYTES >= length - 1);
	}
	CHECK(signature_is(signature_word(7, 9)));
	CHECK(!signature_is(0));
}

static uint16_t folded_sum(uint64_t word)
{
	uint64_t sum =
		(word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);

	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static bool is_any(const struct signature *signature)
{
	(void)signature;
	return true;
}

static void a_damaged_signature_is_none(void)
{
	srand(3);
	for (unsigned i = 0; i < 20000; i++) {
		uint16_t stream = (uint16_t)(rand() % SIGNATURE_STREAMS);
		uint32_t number = (uint32_t)rand() << 1 ^ (uint32_t)rand();
		uint64_t word = signature_word(stream, number);
		uint64_t damaged = word ^ 1ull << rand() % 64;
		struct signature signature;

		CHECK(signature_decode(word, &signature));
		CHECK_EQUAL(signature.stream, stream);
		CHECK_EQUAL(signature.sequence, number % SIGNATURE_NUMBERS);
		CHECK_EQUAL(signature_number(signature.sequence, number + 1), number);
		CHECK_EQUAL(
			signature_number(signature.sequence, number + SIGNATURE_NUMBERS), number);
		CHECK_EQUAL(folded_sum(word), 0xffff);
		CHECK(!signature_decode(damaged, &signature));
		CHECK(signature_repair(damaged, is_any, &signature));
		CHECK(!signature_repair(word, is_any, &signature));
	}
}

static const struct test_case cases[] = {
	{"mistakes are found", mistakes_are_found},
	{"reused buffers are clean", reused_buffers_are_clean},
	{"signature stands at an even offset", signature_stands_at_an_even_offset},
	{"a damaged signature is none", a_damaged_signature_is_none},
};
TEST_MAIN(cases)
