/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `libpcap`: live capture and injection by libpcap, in immediate mode and without
 * blocking, one pcap_inject() a packet. libpcap puts VLAN tags back itself; it does not say
 * which checksums are unfinished, so those of local stacks stay as they came.
 */
#include "packet_frame.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <pcap/pcap.h>
#include <rte_cycles.h>
#include <stdio.h>

/* Larger ones leave the cache, at the cost of whoever sends over a veth. */
#define RX_BUFFER_BYTES (2 << 20)
/* A ring found empty is asked about again after so long: libpcap's poll() takes the lock under
 * which the kernel puts frames into it, on the sender's CPU. */
#define RX_PAUSE_US 1
/* No frame is of this type (RFC 1701). */
#define NO_ETHERTYPE 0xffff
#define TX_BUFFER_BYTES (128 << 10)
#define SPARE_MBUFS 256

struct pcap_rx {
	struct packet_rx base;
	pcap_t *pcap;
	uint64_t pause_clocks, again_tsc;
	u_int dropped; /* as of the last reading */
	unsigned nb_spare;
	struct rte_mbuf *spare[SPARE_MBUFS];
	/* Buffers of the current call. */
	struct rte_mbuf **mbufs;
	uint16_t received;
};

struct pcap_tx {
	struct packet_tx base;
	pcap_t *pcap;
};

static int say(const struct packet_port *port, pcap_t *pcap, int status)
{
	if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
		return packet_say(port, "libpcap", EPERM);
	fprintf(stderr, "port %s: %s: libpcap: %s: %s\n", port->port->name, port->device,
		pcap_statustostr(status), pcap == NULL ? "" : pcap_geterr(pcap));
	return -EINVAL;
}

/* *pcap is set whenever it must be closed. */
static int open_handle(struct packet_port *port, pcap_t **pcap, int buffer_bytes, bool promiscuous)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	int bypass = port->qdisc_bypass, status;

	*pcap = pcap_create(port->device, error);
	if (*pcap == NULL) {
		fprintf(stderr, "port %s: %s: libpcap: %s\n", port->port->name, port->device,
			error);
		return -EINVAL;
	}
	pcap_set_snaplen(*pcap, port->port->max_frame_bytes + PACKET_TAGS_BYTES);
	pcap_set_promisc(*pcap, promiscuous);
	pcap_set_immediate_mode(*pcap, 1);
	pcap_set_buffer_size(*pcap, buffer_bytes);
	status = pcap_activate(*pcap);
	if (status < 0)
		return say(port, *pcap, status);
	if (pcap_setnonblock(*pcap, 1, error) != 0)
		return say(port, *pcap, PCAP_ERROR);
	(void)setsockopt(
		pcap_fileno(*pcap), SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass));
	return 0;
}

static int pcap_open_rx(struct packet_port *port, struct packet_rx *base)
{
	struct pcap_rx *rx = (struct pcap_rx *)base;
	int rc = open_handle(port, &rx->pcap, RX_BUFFER_BYTES, true);

	if (rc != 0)
		return rc;
	base->fd = pcap_fileno(rx->pcap);
	rx->pause_clocks = rte_get_tsc_hz() * RX_PAUSE_US / 1000000;
	return pcap_setdirection(rx->pcap, PCAP_D_IN) == 0 ? 0 : say(port, rx->pcap, PCAP_ERROR);
}

/* A handle receives always, and each frame would be shown to it too: it is bound to a type that
 * none has. What came before that is refused by a filter. */
static int pcap_open_tx(struct packet_port *port, struct packet_tx *base)
{
	struct pcap_tx *tx = (struct pcap_tx *)base;
	struct bpf_insn refuse = BPF_STMT(BPF_RET | BPF_K, 0);
	struct bpf_program filter = {.bf_len = 1, .bf_insns = &refuse};
	struct sockaddr_ll nothing = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(NO_ETHERTYPE),
		.sll_ifindex = port->index,
	};
	int rc = open_handle(port, &tx->pcap, TX_BUFFER_BYTES, false);

	if (rc != 0)
		return rc;
	if (pcap_setfilter(tx->pcap, &filter) != 0)
		return say(port, tx->pcap, PCAP_ERROR);
	if (bind(pcap_fileno(tx->pcap), (struct sockaddr *)&nothing, sizeof(nothing)) != 0)
		return packet_say(port, "bind", errno);
	return 0;
}

/* From libpcap's ring, into which the kernel has copied it: the second copy. */
static void on_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *frame)
{
	struct pcap_rx *rx = (struct pcap_rx *)user;
	struct rte_mbuf *mbuf = rx->spare[rx->nb_spare - 1];

	rx->base.counters.copied_bytes += header->caplen;
	if (unlikely(header->len > rx->base.room_bytes || header->caplen < header->len)) {
		rx->base.counters.too_long++;
		return;
	}
	rte_memcpy(fresh_data(mbuf), frame, header->len);
	if (likely(packet_received(&rx->base, mbuf, header->len, NULL)))
		rx->mbufs[rx->received++] = rx->spare[--rx->nb_spare];
}

static bool refill(struct pcap_rx *rx, unsigned want)
{
	unsigned more = SPARE_MBUFS - rx->nb_spare;

	if (rx->nb_spare >= want)
		return true;
	if (rte_mempool_get_bulk(rx->base.pool, (void **)&rx->spare[rx->nb_spare], more) != 0)
		return false;
	rx->nb_spare += more;
	return true;
}

static uint16_t pcap_rx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct pcap_rx *rx = queue;

	if (rte_rdtsc() < rx->again_tsc || !refill(rx, count))
		return 0;
	rx->mbufs = mbufs;
	rx->received = 0;
	/* It asks the kernel, by one poll(), only when its ring is empty. */
	if (pcap_dispatch(rx->pcap, count, on_frame, (u_char *)rx) == 0) {
		rx->base.counters.syscalls++;
		rx->again_tsc = rte_rdtsc() + rx->pause_clocks;
	}
	return rx->received;
}

static uint16_t pcap_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct pcap_tx *tx = queue;
	unsigned first = 0;
	uint16_t done;

	for (done = 0; done < count; done++) {
		tx->base.counters.syscalls++;
		if (likely(pcap_inject(tx->pcap, rte_pktmbuf_mtod(mbufs[done], void *),
				   mbufs[done]->data_len) >= 0))
			continue;
		/* That of its send(). */
		if (packet_tx_busy(errno)) {
			tx->base.counters.no_buffers += errno == ENOBUFS;
			break;
		}
		packet_tx_failed(&tx->base, errno, 1);
		packet_sent(&tx->base, mbufs + first, done - first);
		first = done + 1;
	}
	packet_sent(&tx->base, mbufs + first, done - first);
	free_mbufs(mbufs, done);
	return done;
}

static void pcap_close_rx(struct packet_rx *base)
{
	struct pcap_rx *rx = (struct pcap_rx *)base;

	rte_pktmbuf_free_bulk(rx->spare, rx->nb_spare);
	if (rx->pcap != NULL)
		pcap_close(rx->pcap);
	base->fd = -1;
}

static void pcap_close_tx(struct packet_tx *base)
{
	struct pcap_tx *tx = (struct pcap_tx *)base;

	if (tx->pcap != NULL)
		pcap_close(tx->pcap);
}

/* libpcap adds up what the kernel tells, in 32 bits. */
static uint64_t pcap_missed(struct packet_rx *base)
{
	struct pcap_rx *rx = (struct pcap_rx *)base;
	struct pcap_stat stats;
	uint32_t more;

	if (pcap_stats(rx->pcap, &stats) != 0)
		return 0;
	more = stats.ps_drop - rx->dropped;
	rx->dropped = stats.ps_drop;
	return more;
}

/* It receives from the moment it was opened. */
static int pcap_start_rx(__rte_unused struct packet_port *port, __rte_unused struct packet_rx *rx)
{
	return 0;
}

static const struct packet_method pcap_method = {
	.rx_bytes = sizeof(struct pcap_rx),
	.tx_bytes = sizeof(struct pcap_tx),
	.rx_ring = SPARE_MBUFS,
	.rx_queues_max = 1,
	.open_rx = pcap_open_rx,
	.open_tx = pcap_open_tx,
	.close_rx = pcap_close_rx,
	.close_tx = pcap_close_tx,
	.start_rx = pcap_start_rx,
	.missed = pcap_missed,
};

PACKET_DRIVER(pcap, "libpcap")
