/* SPDX-License-Identifier: BSD-3-Clause */
/* The card's look-up: one hash and, where a rule may match, one comparison a frame. */
#include "core/path_hash.h"
#include "card_flow_rules.h"

#include <netinet/in.h>
#include <rte_prefetch.h>
#include <string.h>

#define VECTOR_MAX 256
#define TAGS_MAX 2

static bool is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ;
}

static uint16_t word_at(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Returns false when rules do not match such a packet. */
static bool add_ports(struct card_flow_key *key, const uint8_t *header, unsigned bytes)
{
	switch (key->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
		if (bytes < sizeof(key->ports))
			return false;
		memcpy(key->ports, header, sizeof(key->ports));
		return true;
	case IPPROTO_ICMP:
		if (bytes < 2)
			return false;
		memcpy(key->ports, header, 2);
		return true;
	default:
		return false;
	}
}

static bool key_of_ip4(struct card_flow_key *key, const uint8_t *ip, unsigned bytes)
{
	unsigned header;

	if (bytes < sizeof(struct rte_ipv4_hdr) || ip[0] >> 4 != 4)
		return false;
	header = (ip[0] & 0xf) * 4u;
	/* As the X710's: a fragment, the first one too, matches no rule with ports. */
	if (header < sizeof(struct rte_ipv4_hdr) || header > bytes || ((ip[6] & 0x3f) | ip[7]) != 0)
		return false;
	memcpy(key->addresses, ip + 12, 8);
	key->protocol = ip[9];
	return add_ports(key, ip + header, bytes - header);
}

static bool key_of_ip6(struct card_flow_key *key, const uint8_t *ip, unsigned bytes)
{
	if (bytes < sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6 || ip[6] == IPPROTO_ICMP)
		return false;
	memcpy(key->addresses, ip + 8, 32);
	key->protocol = ip[6];
	return add_ports(
		key, ip + sizeof(struct rte_ipv6_hdr), bytes - sizeof(struct rte_ipv6_hdr));
}

static __rte_always_inline void key_of(
	const uint8_t *frame, unsigned bytes, struct card_flow_key *key, uint16_t *tag)
{
	unsigned at = 12;
	uint16_t type;

	memset(key, 0, sizeof(*key));
	*tag = 0;
	if (bytes < RTE_ETHER_HDR_LEN)
		return;
	type = word_at(frame + at);
	for (unsigned tags = 0; unlikely(is_tag(type)); tags++) {
		if (tags == TAGS_MAX || at + 6 > bytes)
			return;
		if (tags == 0)
			*tag = (uint16_t)CARD_VLAN_ID(word_at(frame + at + 2) & 0xfff);
		at += 4;
		type = word_at(frame + at);
	}
	at += 2;
	if (type == RTE_ETHER_TYPE_IPV4)
		key->version = key_of_ip4(key, frame + at, bytes - at) ? 4 : 0;
	else if (type == RTE_ETHER_TYPE_IPV6)
		key->version = key_of_ip6(key, frame + at, bytes - at) ? 6 : 0;
}

void card_flow_key_of(
	const uint8_t *frame, unsigned bytes, struct card_flow_key *key, uint16_t *tag)
{
	key_of(frame, bytes, key, tag);
}

static __rte_always_inline uint32_t hash_of(const struct card_flow_key *key)
{
	uint64_t words[CARD_FLOW_KEY_WORDS];
	uint32_t hash = FLOW_HASH_SEED;

	memcpy(words, key, sizeof(words));
	for (unsigned i = 0; i < CARD_FLOW_KEY_WORDS; i++)
		hash = flow_hash_word(hash, words[i]);
	return flow_hash_finish(hash);
}

uint32_t card_flow_hash(const struct card_flow_key *key)
{
	return hash_of(key);
}

static __rte_always_inline bool same_key(
	const struct card_flow_key *a, const struct card_flow_key *b)
{
	uint64_t x[CARD_FLOW_KEY_WORDS], y[CARD_FLOW_KEY_WORDS], difference = 0;

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	for (unsigned i = 0; i < CARD_FLOW_KEY_WORDS; i++)
		difference |= x[i] ^ y[i];
	return difference == 0;
}

/* `word` is 1 + the slot of the first rule of the chain. */
static __rte_always_inline struct card_rule *find(
	const struct card_flow_table *table, uint32_t word, const struct card_flow_key *key)
{
	while (word != 0) {
		struct card_rule *rule = &table->rules[word - 1];

		if (likely(same_key(&rule->key, key)))
			return rule;
		word = __atomic_load_n(&rule->next, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

static uint32_t head_of(const struct card_flow_table *table, uint32_t hash)
{
	return __atomic_load_n(&table->heads[(hash >> 8) & table->mask], __ATOMIC_ACQUIRE);
}

/* A rule for the frame's own VLAN, or for any tagged frame. */
static __rte_noinline struct card_rule *find_tagged(
	const struct card_flow_table *table, struct card_flow_key *key, uint16_t tag)
{
	const uint16_t wanted[] = {tag, CARD_VLAN_TAGGED};
	struct card_rule *rule = NULL;

	for (unsigned i = 0; i < RTE_DIM(wanted) && rule == NULL; i++) {
		key->vlan = wanted[i];
		rule = find(table, head_of(table, hash_of(key)), key);
	}
	key->vlan = CARD_VLAN_ANY;
	return rule;
}

void card_flow_match(const struct card_flow_table *table, struct rte_mbuf *const *mbufs,
	struct card_rule **matched, uint16_t count)
{
	struct card_flow_key keys[VECTOR_MAX];
	uint32_t words[VECTOR_MAX];
	uint16_t tags[VECTOR_MAX];
	bool ask_tagged = __atomic_load_n(&table->nb_linked_tagged, __ATOMIC_RELAXED) != 0;

	for (uint16_t i = 0; i < count; i++) {
		key_of(rte_pktmbuf_mtod(mbufs[i], const uint8_t *), mbufs[i]->data_len, &keys[i],
			&tags[i]);
		if (unlikely(table->any_ports))
			memset(keys[i].ports, 0, sizeof(keys[i].ports));
		words[i] = hash_of(&keys[i]);
		rte_prefetch0(&table->heads[(words[i] >> 8) & table->mask]);
	}
	for (uint16_t i = 0; i < count; i++) {
		words[i] = head_of(table, words[i]);
		/* Slot 0 stands for none: nothing is read of it. */
		rte_prefetch0(&table->rules[words[i] - (words[i] != 0)]);
	}
	for (uint16_t i = 0; i < count; i++) {
		matched[i] = NULL;
		if (unlikely(ask_tagged && tags[i] != 0 && keys[i].version != 0))
			matched[i] = find_tagged(table, &keys[i], tags[i]);
		if (matched[i] == NULL)
			matched[i] = find(table, words[i], &keys[i]);
	}
}
