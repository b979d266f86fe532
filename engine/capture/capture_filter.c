/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpcap compiles the text into classic BPF. Where DPDK converts that into eBPF and into machine
 * code, and does it right, this runs; else libpcap's own interpreter does.
 */
#include "capture_filter.h"

#include <pthread.h>
#include <rte_malloc.h>
#include <stdio.h>
#include <string.h>

/* The most that a frame can have: a filter shall see all of it. */
#define FILTER_SNAP_BYTES 65535
/* DPDK checks each way through a program by itself. */
#define COMPILED_MAX 256

/* libpcap's parser was not reentrant before 1.8. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool compile(struct bpf_program *program, const char *text, char why[CAPTURE_WHY_BYTES])
{
	pcap_t *ethernet = pcap_open_dead(DLT_EN10MB, FILTER_SNAP_BYTES);
	bool compiled;

	if (ethernet == NULL) {
		snprintf(why, CAPTURE_WHY_BYTES, "no memory");
		return false;
	}
	compiled = pcap_compile(ethernet, program, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
	if (!compiled)
		snprintf(why, CAPTURE_WHY_BYTES, "filter: %s", pcap_geterr(ethernet));
	pcap_close(ethernet);
	return compiled;
}

/*
 * Instructions that DPDK 22.11 converts and compiles right: fields at fixed places, compared. Not
 * so arithmetic, fields behind IPv4's options, and BPF_JSET with a constant that fits a byte: x86's
 * TEST has no such form, and what follows is no code.
 */
static bool is_compiled_right(const struct bpf_insn *instruction)
{
	int32_t constant = (int32_t)instruction->k;

	switch (instruction->code) {
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_ALU | BPF_AND | BPF_K:
	case BPF_JMP | BPF_JA:
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_RET | BPF_K:
		return true;
	case BPF_JMP | BPF_JSET | BPF_K:
		return constant < INT8_MIN || constant > INT8_MAX;
	default:
		return false;
	}
}

static bool can_be_compiled(const struct bpf_program *program)
{
	for (unsigned i = 0; i < program->bf_len; i++)
		if (!is_compiled_right(&program->bf_insns[i]))
			return false;
	return program->bf_len <= COMPILED_MAX;
}

/* It does not matter where it fails: the program can be interpreted. */
static void load(struct capture_filter *filter)
{
	struct rte_bpf_prm *converted;
	struct rte_bpf_jit jit;

	converted = rte_bpf_convert(&filter->program);
	if (converted == NULL)
		return;
	filter->loaded = rte_bpf_load(converted);
	rte_free(converted);
	if (filter->loaded != NULL && rte_bpf_get_jit(filter->loaded, &jit) == 0)
		filter->compiled = jit.func;
}

bool capture_filter_create(
	struct capture_filter *filter, const char *text, char why[CAPTURE_WHY_BYTES])
{
	bool compiled;

	memset(filter, 0, sizeof(*filter));
	if (text[strspn(text, " ")] == '\0')
		return true;
	pthread_mutex_lock(&lock);
	compiled = compile(&filter->program, text, why);
	if (compiled && can_be_compiled(&filter->program))
		load(filter);
	pthread_mutex_unlock(&lock);
	return compiled;
}

bool capture_filter_interpret(const struct capture_filter *filter, const struct rte_mbuf *mbuf)
{
	uint32_t bytes = RTE_MIN(mbuf->pkt_len, (uint32_t)CAPTURE_FRAME_BYTES);
	uint8_t joined[CAPTURE_FRAME_BYTES];
	const void *frame = rte_pktmbuf_read(mbuf, 0, bytes, joined);

	return bpf_filter(filter->program.bf_insns, frame, mbuf->pkt_len, bytes) != 0;
}

void capture_filter_free(struct capture_filter *filter)
{
	rte_bpf_destroy(filter->loaded);
	pcap_freecode(&filter->program);
	memset(filter, 0, sizeof(*filter));
}
