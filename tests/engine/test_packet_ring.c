/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings shared with the kernel, the kernel played by the test; and the netlink answer. */
#include "port/netlink_link.h"
#include "port/packet_frame.h"
#include "port/packet_ring.h"
#include "test.h"

#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define BLOCKS 4
#define BLOCK_BYTES 4096
#define SLOTS 8
#define SLOT_BYTES 256

static uint8_t blocks[BLOCKS * BLOCK_BYTES] __rte_aligned(64);
static uint8_t slots[SLOTS * SLOT_BYTES] __rte_aligned(64);

/* Closes a block with frames first, first + 1, … , of growing lengths. */
static void close_block(unsigned index, uint32_t first, unsigned count)
{
	struct tpacket_block_desc *block = (void *)&blocks[(size_t)index * BLOCK_BYTES];
	uint32_t at = 48;

	block->hdr.bh1.num_pkts = count;
	block->hdr.bh1.offset_to_first_pkt = at;
	for (unsigned i = 0; i < count; i++) {
		struct tpacket3_hdr *header = (void *)((uint8_t *)block + at);
		uint32_t length = 60 + i, step = RTE_ALIGN_CEIL(100 + length, 16);

		header->tp_len = header->tp_snaplen = length;
		header->tp_mac = 82;
		header->tp_next_offset = i + 1 == count ? 0 : step;
		memcpy((uint8_t *)header + 82, &first, sizeof(first));
		first++;
		at += step;
	}
	__atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_USER, __ATOMIC_RELEASE);
}

static uint32_t status_of(unsigned index)
{
	return ((struct tpacket_block_desc *)&blocks[(size_t)index * BLOCK_BYTES])
		->hdr.bh1.block_status;
}

static void blocks_are_read_in_order_and_given_back(void)
{
	struct packet_block_reader reader = {
		.blocks = blocks, .block_bytes = BLOCK_BYTES, .nb_blocks = BLOCKS};
	uint32_t put = 0, got = 0, number;
	unsigned closed = 0;

	CHECK(packet_block_next(&reader) == NULL);
	for (unsigned round = 0; round < 200; round++) {
		/* Now and then a block that its timer closed empty. */
		unsigned count = round % 7 == 3 ? 0 : 1 + round % 9;
		const struct tpacket3_hdr *header;

		if (status_of(closed) == TP_STATUS_KERNEL) {
			close_block(closed, put, count);
			closed = (closed + 1) % BLOCKS;
			put += count;
		}
		if (round % 3 == 0)
			continue;
		for (unsigned i = 0; i < 7 && (header = packet_block_next(&reader)) != NULL; i++) {
			/* Asked again it is the same. */
			CHECK(packet_block_next(&reader) == header);
			memcpy(&number, (const uint8_t *)header + header->tp_mac, sizeof(number));
			CHECK_EQUAL(number, got);
			got++;
			packet_block_done(&reader);
		}
	}
	while (packet_block_next(&reader) != NULL) {
		got++;
		packet_block_done(&reader);
	}
	CHECK_EQUAL(got, put);
	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK_EQUAL(status_of(i), TP_STATUS_KERNEL);
}

/* The kernel sends up to `count` requested frames from *next on. */
static void kernel_sends(struct packet_slots *ring, unsigned *next, unsigned count)
{
	while (count-- > 0) {
		struct tpacket2_hdr *slot = packet_slot(ring, *next);

		if (slot->tp_status != TP_STATUS_SEND_REQUEST)
			return;
		slot->tp_status = TP_STATUS_SENDING;
		*next = (*next + 1) % SLOTS;
	}
}

static void slots_that_were_not_sent_are_taken_back(void)
{
	struct packet_slots ring = {.slots = slots, .slot_bytes = SLOT_BYTES, .nb_slots = SLOTS};
	unsigned kernel = 0;

	for (unsigned round = 0; round < 50; round++) {
		unsigned want = 1 + round % 6, takes = round % 7, filled = 0, back;

		while (filled < want && packet_slot_free(&ring) != NULL) {
			packet_slot_request(&ring, 60);
			filled++;
		}
		CHECK_EQUAL(filled, want);
		kernel_sends(&ring, &kernel, takes);
		back = packet_slots_take_back(&ring, filled);
		CHECK_EQUAL(back, takes >= filled ? 0 : filled - takes);
		CHECK_EQUAL(ring.next, kernel);
		/* Sent ones are in flight: their slots are free when the frames are. */
		for (unsigned i = 0; i < SLOTS; i++) {
			struct tpacket2_hdr *slot = packet_slot(&ring, i);

			CHECK(slot->tp_status != TP_STATUS_SEND_REQUEST);
			slot->tp_status = TP_STATUS_AVAILABLE | TP_STATUS_TS_SOFTWARE;
		}
	}
}

static void a_full_tx_ring_takes_no_more(void)
{
	struct packet_slots ring = {.slots = slots, .slot_bytes = SLOT_BYTES, .nb_slots = SLOTS};
	unsigned filled = 0;

	memset(slots, 0, sizeof(slots));
	for (; packet_slot_free(&ring) != NULL; filled++)
		packet_slot_request(&ring, 60);
	CHECK_EQUAL(filled, SLOTS);
	CHECK_EQUAL(packet_slots_take_back(&ring, 3), 3);
	CHECK_EQUAL(ring.next, SLOTS - 3);
}

static void a_tag_is_put_back(void)
{
	struct {
		struct rte_mbuf mbuf;
		uint8_t buffer[512];
	} *one = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*one), 64));
	struct packet_rx rx = {.room_bytes = 100};
	struct tpacket_auxdata aux = {
		.tp_status = TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID,
		.tp_vlan_tci = 0x6007,
		.tp_vlan_tpid = 0x88a8,
	};
	static const uint8_t tag[] = {0x88, 0xa8, 0x60, 0x07};
	uint8_t *frame, before[60];

	if (one == NULL)
		return;
	memset(one, 0, sizeof(*one));
	one->mbuf.buf_addr = one->buffer;
	frame = fresh_data(&one->mbuf);
	for (unsigned i = 0; i < sizeof(before); i++)
		frame[i] = before[i] = (uint8_t)(i + 1);
	CHECK(packet_received(&rx, &one->mbuf, 60, &aux));
	CHECK_EQUAL(one->mbuf.data_len, 64);
	CHECK(memcmp(frame, before, 12) == 0);
	CHECK(memcmp(frame + 12, tag, 4) == 0);
	CHECK(memcmp(frame + 16, before + 12, 48) == 0);
	CHECK_EQUAL(rx.counters.bytes, 68);
	/* With it the frame is too long; without, it just fits. */
	CHECK(!packet_received(&rx, &one->mbuf, 97, &aux));
	CHECK(!packet_received(&rx, &one->mbuf, 101, NULL));
	CHECK(packet_received(&rx, &one->mbuf, 100, NULL));
	CHECK_EQUAL(rx.counters.too_long, 2);
	CHECK_EQUAL(rx.counters.packets, 2);
	free(one);
}

static size_t answer_link(uint8_t *answer, int index)
{
	struct nlmsghdr *header = (void *)answer;
	struct ifinfomsg *info = NLMSG_DATA(header);
	struct rtattr *attribute = (void *)(answer + NLMSG_LENGTH(sizeof(*info)));
	static const uint8_t mac[6] = {2, 3, 4, 5, 6, 7};
	uint32_t mtu = 1400;

	info->ifi_index = index;
	info->ifi_type = ARPHRD_ETHER;
	info->ifi_flags = 0x1 | 0x40; /* up, running */
	attribute->rta_type = IFLA_ADDRESS;
	attribute->rta_len = RTA_LENGTH(sizeof(mac));
	memcpy(RTA_DATA(attribute), mac, sizeof(mac));
	attribute = (void *)((uint8_t *)attribute + RTA_ALIGN(attribute->rta_len));
	attribute->rta_type = IFLA_MTU;
	attribute->rta_len = RTA_LENGTH(sizeof(mtu));
	memcpy(RTA_DATA(attribute), &mtu, sizeof(mtu));
	attribute = (void *)((uint8_t *)attribute + RTA_ALIGN(attribute->rta_len));
	header->nlmsg_type = RTM_NEWLINK;
	header->nlmsg_len = (uint32_t)((uint8_t *)attribute - answer);
	return header->nlmsg_len;
}

static void the_kernels_answer_is_read(void)
{
	static uint32_t words[64];
	uint8_t *answer = (uint8_t *)words;
	struct netlink_link link;
	size_t bytes = answer_link(answer, 7);

	CHECK_EQUAL(netlink_link_read(answer, bytes, &link), 0);
	CHECK_EQUAL(link.index, 7);
	CHECK_EQUAL(link.mtu, 1400);
	CHECK_EQUAL(link.mac.addr_bytes[5], 7);
	CHECK(link.up && link.ethernet);
	/* Each length that is cut short, in memory of just that size. */
	for (size_t cut = 0; cut < bytes; cut++) {
		uint8_t *copy = malloc(cut == 0 ? 1 : cut);

		if (copy == NULL)
			return;
		memcpy(copy, answer, cut);
		CHECK(netlink_link_read(copy, cut, &link) < 0);
		free(copy);
	}
}

static void the_kernels_error_is_handed_on(void)
{
	static uint32_t words[64];
	struct nlmsghdr *header = (void *)words;
	struct nlmsgerr *error = NLMSG_DATA(header);
	struct netlink_link link;

	header->nlmsg_type = NLMSG_ERROR;
	header->nlmsg_len = NLMSG_LENGTH(sizeof(*error));
	error->error = -ENODEV;
	CHECK(netlink_link_read(words, header->nlmsg_len, &link) == -ENODEV);
}

static const struct test_case cases[] = {
	{"blocks are read in order and given back", blocks_are_read_in_order_and_given_back},
	{"slots that were not sent are taken back", slots_that_were_not_sent_are_taken_back},
	{"a full tx ring takes no more", a_full_tx_ring_takes_no_more},
	{"a VLAN tag is put back", a_tag_is_put_back},
	{"the kernel's answer is read", the_kernels_answer_is_read},
	{"the kernel's error is handed on", the_kernels_error_is_handed_on},
};
TEST_MAIN(cases)
