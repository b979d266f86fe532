/* SPDX-License-Identifier: BSD-3-Clause */
/* The verification suite of Microsoft's "Verifying the RSS hash calculation". */
#include "card/card.h"
#include "core/flow_tuple.h"
#include "test.h"

#include <arpa/inet.h>
#include <stdbool.h>

static uint8_t frame[128];

/* Ethernet, labels, IPv4 and UDP; returns the length. */
static unsigned build4(const char *src, const char *dst, uint16_t sport, uint16_t dport,
	unsigned vlans, unsigned labels)
{
	unsigned at = 12;

	memset(frame, 0, sizeof(frame));
	for (unsigned i = 0; i < vlans; i++, at += 4)
		frame[at] = 0x81;
	frame[at] = labels > 0 ? 0x88 : 0x08;
	frame[at + 1] = labels > 0 ? 0x47 : 0x00;
	at += 2;
	for (unsigned i = 0; i < labels; i++, at += 4)
		frame[at + 2] = i + 1 == labels;
	frame[at] = 0x45;
	frame[at + 9] = IPPROTO_UDP;
	inet_pton(AF_INET, src, frame + at + 12);
	inet_pton(AF_INET, dst, frame + at + 16);
	frame[at + 20] = (uint8_t)(sport >> 8);
	frame[at + 21] = (uint8_t)sport;
	frame[at + 22] = (uint8_t)(dport >> 8);
	frame[at + 23] = (uint8_t)dport;
	return at + 28;
}

static uint32_t hash_of(const struct card_rss *rss, unsigned length)
{
	bool hashed = false;
	uint32_t hash = card_rss_hash(rss, frame, length, &hashed);

	CHECK(hashed);
	return hash;
}

static void verification_suite_ip4(void)
{
	static const struct {
		const char *dst, *src;
		uint16_t dport, sport;
		uint32_t two, four;
	} rows[] = {
		{"161.142.100.80", "66.9.149.187", 1766, 2794, 0x323e8fc2, 0x51ccc178},
		{"65.69.140.83", "199.92.111.2", 4739, 14230, 0xd718262a, 0xc626b0ea},
		{"12.22.207.184", "24.19.198.95", 38024, 12898, 0xd2d0a5de, 0x5c2b394a},
		{"209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xafc7327f},
		{"202.188.127.2", "153.39.163.191", 1303, 44251, 0x5d1809c5, 0x10e828a2},
	};
	const struct card_rss rss = {.fields = FLOW_L4};

	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		unsigned length =
			build4(rows[i].src, rows[i].dst, rows[i].sport, rows[i].dport, 0, 0);

		CHECK_EQUAL(hash_of(&rss, length), rows[i].four);
		frame[14 + 6] = 0x20; /* more fragments: addresses only */
		CHECK_EQUAL(hash_of(&rss, length), rows[i].two);
	}
}

static void verification_suite_ip6(void)
{
	const struct card_rss rss = {.fields = FLOW_L4};

	memset(frame, 0, sizeof(frame));
	frame[12] = 0x86;
	frame[13] = 0xdd;
	frame[14] = 0x60;
	frame[14 + 6] = IPPROTO_TCP;
	inet_pton(AF_INET6, "3ffe:2501:200:1fff::7", frame + 22);
	inet_pton(AF_INET6, "3ffe:2501:200:3::1", frame + 38);
	frame[54] = 2794 >> 8;
	frame[55] = 2794 & 0xff;
	frame[56] = 1766 >> 8;
	frame[57] = 1766 & 0xff;
	CHECK_EQUAL(hash_of(&rss, 80), 0x40207d3d);
	frame[14 + 6] = IPPROTO_ICMPV6;
	CHECK_EQUAL(hash_of(&rss, 80), 0x2cc18cd5);
}

static void tags_and_labels_change_nothing(void)
{
	const struct card_rss rss = {.fields = FLOW_L4 | FLOW_MPLS_INNER};
	const struct card_rss outer = {.fields = FLOW_L4};
	uint32_t plain;
	bool hashed = true;
	unsigned length = build4("10.0.0.1", "10.0.0.2", 1, 2, 0, 0);

	plain = hash_of(&rss, length);
	for (unsigned vlans = 0; vlans <= 2; vlans++)
		for (unsigned labels = 0; labels <= 3; labels++) {
			length = build4("10.0.0.1", "10.0.0.2", 1, 2, vlans, labels);
			CHECK_EQUAL(hash_of(&rss, length), plain);
			card_rss_hash(&outer, frame, length, &hashed);
			CHECK_EQUAL(hashed, labels == 0);
		}
}

static void symmetric_key_is_symmetric(void)
{
	const struct card_rss rss = {.symmetric = true, .fields = FLOW_L4};

	srand(3);
	for (unsigned i = 0; i < 1000; i++) {
		char a[32], b[32];
		uint16_t sport = (uint16_t)rand(), dport = (uint16_t)rand();
		uint32_t one;

		snprintf(a, sizeof(a), "%d.%d.3.4", rand() & 255, rand() & 255);
		snprintf(b, sizeof(b), "9.%d.%d.8", rand() & 255, rand() & 255);
		one = hash_of(&rss, build4(a, b, sport, dport, 0, 0));
		CHECK_EQUAL(hash_of(&rss, build4(b, a, dport, sport, 0, 0)), one);
	}
}

/* The low seven bits of the hash choose the entry; without ports the addresses alone do. */
static void indirection_table_names_the_queue(void)
{
	struct card_rss rss = {.fields = FLOW_L4};
	unsigned length = build4("66.9.149.187", "161.142.100.80", 2794, 1766, 0, 0);
	uint32_t hash;

	card_rss_spread(&rss, 3);
	CHECK_EQUAL(card_rss_queue(&rss, frame, length, &hash), 0x78 % 3);
	CHECK_EQUAL(hash, 0x51ccc178);
	rss.reta[0x78] = 7;
	CHECK_EQUAL(card_rss_queue(&rss, frame, length, &hash), 7);
	rss.fields = 0;
	rss.reta[0x42] = 9;
	CHECK_EQUAL(card_rss_queue(&rss, frame, length, &hash), 9);
	CHECK_EQUAL(hash, 0x323e8fc2);
	memset(frame + 12, 0xff, 2); /* nothing to hash: the first queue */
	rss.reta[0] = 5;
	CHECK_EQUAL(card_rss_queue(&rss, frame, length, &hash), 0);
}

/* At every length and with random bytes: no read behind the frame (the sanitizer sees it). */
static void cut_and_random_frames(void)
{
	struct card_rss rss = {.fields = FLOW_L4 | FLOW_MPLS_INNER};
	uint32_t hash;

	card_rss_spread(&rss, 16);

	srand(11);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned length = (unsigned)rand() % 80;
		uint8_t *exact = malloc(length == 0 ? 1 : length);

		build4("1.2.3.4", "5.6.7.8", 9, 10, (unsigned)rand() % 3, (unsigned)rand() % 4);
		for (unsigned i = 0; i < (unsigned)rand() % 4; i++)
			frame[(unsigned)rand() % 80] = (uint8_t)rand();
		memcpy(exact, frame, length);
		CHECK(card_rss_queue(&rss, exact, length, &hash) < 16);
		free(exact);
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		{"verification suite, IPv4", verification_suite_ip4},
		{"verification suite, IPv6", verification_suite_ip6},
		{"tags and labels change nothing", tags_and_labels_change_nothing},
		{"symmetric key is symmetric", symmetric_key_is_symmetric},
		{"indirection table names the queue", indirection_table_names_the_queue},
		{"cut and random frames", cut_and_random_frames},
	};

	card_rss_init();
	return TEST_RUN(cases);
}
