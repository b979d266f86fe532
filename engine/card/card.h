/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual card: two ports, one PCIe link, queues, RSS. It works as DMA does:
 *
 *   rx ring   the DUT posts addresses of empty buffers in `posted`; the card copies a
 *             frame into each and puts its length and hash into `filled`.
 *   tx ring   the DUT puts address and length into `queued`; the card copies the frame
 *             out and moves `done` on; the DUT frees the buffer itself.
 *
 * So no mbuf changes sides. Each ring has two indices that grow without wrap, each on
 * a cache line with one writer. Eight descriptors share a line, and a line of them is
 * only touched by the other side once it is announced, so a packet costs the two cores
 * its data lines and two eighths of a descriptor line.
 *
 * The card's side runs on the worker that holds the wire ends (card/tester_port.c), the DUT's
 * side on the DUT's workers (card/dut_port.c). Loss places are counted on the card's side.
 */
#ifndef LINERATE_CARD_H
#define LINERATE_CARD_H

#include "pacer.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

#define CARDS_MAX 8
#define CARD_PORTS 2
#define CARD_QUEUES_MAX 16

struct waker;

/* address << 16 | length: x86-64 and AArch64 user addresses have 47 or 48 bits. */
#define CARD_TX_ADDRESS(descriptor) ((void *)(uintptr_t)((descriptor) >> 16))
#define CARD_TX_LENGTH(descriptor) ((uint16_t)(descriptor))
#define CARD_TX_DESCRIPTOR(address, length) (((uint64_t)(uintptr_t)(address) << 16) | (length))

/* word << 32 | flags << 16 | length; the word is the RSS hash, or the mark of a rule */
#define CARD_RX_LENGTH(descriptor) ((uint16_t)(descriptor))
#define CARD_RX_FLAGS(descriptor) ((uint16_t)((descriptor) >> 16))
#define CARD_RX_WORD(descriptor) ((uint32_t)((descriptor) >> 32))
#define CARD_RX_DESCRIPTOR(length, flags, word) \
	(((uint64_t)(word) << 32) | ((uint64_t)(flags) << 16) | (length))
#define CARD_RX_HASHED 1
#define CARD_RX_MARKED 2

/* Both kinds of ring. The writer of each index is named; both grow without wrap. */
struct card_ring {
	uint32_t given __rte_cache_aligned;    /* by the DUT: posted or queued so far */
	uint32_t starved;                      /* by the DUT: it had no buffers to post (rx only) */
	uint32_t returned __rte_cache_aligned; /* by the card: filled or sent so far */
	uint32_t size __rte_cache_aligned;     /* a power of two; read only, as what follows */
	uint32_t mask;
	struct waker *waker; /* of the worker that polls an rx ring; NULL: it never sleeps */
	uint64_t *to_card;   /* posted addresses, or queued descriptors */
	uint64_t *from_card; /* filled descriptors (rx only) */
};

/* The card's private view of one queue pair. */
struct card_queue {
	struct card_ring *rx, *tx;
	uint32_t rx_given, tx_given; /* last seen */
	uint32_t rx_returned, tx_returned;
	uint32_t rx_missed; /* found no posted buffer */
};

/* Entries of the indirection table, as most cards of its kind have. */
#define CARD_RETA_ENTRIES 128

/* RSS settings of a port; any word may change while frames arrive. */
struct card_rss {
	bool symmetric;
	uint32_t fields; /* enum flow_fields */
	uint16_t reta[CARD_RETA_ENTRIES];
};

/* Why the card dropped a frame from the wire, in the order in which it looks. */
enum card_rx_drop {
	CARD_RX_OVERSIZE, /* longer than max_frame_bytes, not counting VLAN tags */
	CARD_RX_PPS,      /* above the packet rate that the card can take in */
	CARD_RX_PCIE,     /* the PCIe link could not carry it and the FIFO was full */
	CARD_RX_RULE,     /* a rule of its flow table says so */
	CARD_RX_NO_MBUF,  /* no posted buffer, and the DUT had none to post */
	CARD_RX_MISSED,   /* no posted buffer: the DUT did not poll in time */
	CARD_RX_DROPS,
};

struct card_port {
	struct card *card;
	uint16_t index;
	struct card_queue queues[CARD_QUEUES_MAX];
	struct card_rss rss;
	struct card_flow_table *flow_table; /* NULL: the card has none */
	struct pacer link_in, link_out;     /* L1 bytes, from and to the wire */
	unsigned next_tx_queue;
	double last_poll;                        /* of the tx queues */
	bool backlogged;                         /* frames were waiting when the last poll ended */
	uint64_t rx_packets __rte_cache_aligned; /* from the wire, all */
	uint64_t rx_bytes;
	uint64_t rx_drops[CARD_RX_DROPS];
	uint64_t tx_packets, tx_bytes; /* on to the wire */
	uint64_t tx_oversize;
	uint64_t link_waits; /* polls that came after the link had been idle with frames waiting */
};

struct card_pcie {
	double gigatransfers; /* per lane; 0: no limit */
	unsigned lanes;
	unsigned max_payload_bytes;
	struct pacer up, down; /* bytes towards the host and from it */
};

/* The flow table as configured; see card_flow_rules.h. */
struct card_flow_limits {
	uint32_t capacity;   /* rules a port; 0: the card takes none */
	uint32_t guaranteed; /* number of rules that always fit */
	uint32_t programming_us;
	char refuse[16]; /* "none", "all", or the word of an item or action */
	bool silent;     /* rules are taken and have no effect */
	char ignore[16]; /* "none", or the word of an action without effect; "ports": not matched */
};

struct card {
	char name[32];
	uint64_t link_bps; /* L1; 0 unpaced */
	double pps_ceiling;
	uint16_t nb_queues; /* rx queues a port */
	uint16_t nb_tx_queues;
	uint32_t rx_ring, tx_ring; /* descriptors a queue */
	uint16_t max_frame_bytes;
	struct card_rss rss; /* that the ports start with */
	bool shunt;
	struct card_flow_limits flow_limits;
	struct pacer pps_in, pps_out;
	struct card_pcie pcie;
	struct card_port ports[CARD_PORTS];

	/* The card's clock: the TSC less the time for which its worker was away. */
	uint64_t clock_last;
	uint64_t paused;
	double tsc_hz;
	struct card_shunt *shunted;
};

/* Pauses of the worker from this length on do not count on the card's clock. */
#define CARD_PAUSE_US 50
/* So much of a link's idle time can be made up for: several loops in a row may be slow, each
 * for less than a pause. */
#define CARD_CREDIT_US 250

/*
 * A frame's VLAN tags come on top of max_frame_bytes, as with real NICs: IEEE 802.3 allows
 * 1522 bytes with one (3.2.7), and the second of IEEE 802.1ad makes it 1526.
 */
bool card_frame_fits(const struct card *card, const uint8_t *frame, unsigned length);

/* Now, on the card's clock. Only for the worker that carries the card. */
uint64_t card_clock(struct card *card);

/* Bytes on a PCIe link for a frame of `bytes` (without FCS), from the card to memory with its
 * descriptor written back, and from memory with its descriptor fetched.
 * Overheads of a TLP: PCI Express Base Specification 3.1, 2.2 and 4.2. */
unsigned card_pcie_up_bytes(const struct card_pcie *pcie, unsigned bytes);
unsigned card_pcie_down_bytes(const struct card_pcie *pcie, unsigned bytes);

/* Chooses the frame's rx queue; *hash is set when it was computed. */
uint16_t card_rss_queue(
	const struct card_rss *rss, const void *frame, unsigned bytes, uint32_t *hash);
/* Toeplitz hash of the frame's flow (flow_tuple.h); 0 and *hashed false when it has none. */
uint32_t card_rss_hash(
	const struct card_rss *rss, const uint8_t *frame, unsigned bytes, bool *hashed);
/* Fills the indirection table round robin. */
void card_rss_spread(struct card_rss *rss, uint16_t queues);
void card_rss_init(void);

/* The card as a bare link: what came in on one port leaves by the other. */
int card_shunt_create(struct card *card);
void card_shunt_move(struct card *card);

#endif
