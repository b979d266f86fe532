/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev_rss.h"

#include "core/flow_tuple.h"
#include "core/rss_key.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <string.h>

#define KEY_MAX 128
#define GROUPS (PORT_RETA_MAX / RTE_ETH_RETA_GROUP_SIZE)
#define FIELDS_L4 (RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_SCTP)

/* The device's hash settings with the key that they point to. */
struct hash {
	struct rte_eth_rss_conf conf;
	uint64_t offers; /* RTE_ETH_RSS_… */
	uint8_t key[KEY_MAX];
};

static void fill_key(uint8_t *key, unsigned bytes, bool symmetric)
{
	for (unsigned i = 0; i < bytes; i++)
		key[i] = rss_key(symmetric)[i % RSS_KEY_BYTES];
}

static int read_hash(uint16_t port_id, struct hash *hash)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port_id, &info);

	memset(hash, 0, sizeof(*hash));
	if (rc != 0)
		return rc;
	hash->offers = info.flow_type_rss_offloads;
	hash->conf.rss_key = hash->key;
	hash->conf.rss_key_len = RTE_MIN(info.hash_key_size, (uint8_t)KEY_MAX);
	return rte_eth_dev_rss_hash_conf_get(port_id, &hash->conf);
}

/* Not every device has a table, or tells. */
static int read_table(uint16_t port_id, struct port_rss *rss)
{
	struct rte_eth_rss_reta_entry64 groups[GROUPS] = {0};
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port_id, &info);

	rss->nb_entries = 0;
	if (rc != 0 || info.reta_size == 0 || info.reta_size > PORT_RETA_MAX)
		return rc;
	for (unsigned i = 0; i < GROUPS; i++)
		groups[i].mask = UINT64_MAX;
	if (rte_eth_dev_rss_reta_query(port_id, groups, info.reta_size) != 0)
		return 0;
	rss->nb_entries = info.reta_size;
	for (unsigned i = 0; i < info.reta_size; i++)
		rss->entries[i] =
			groups[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	return 0;
}

int ethdev_rss_get(uint16_t port_id, struct port_rss *rss)
{
	uint8_t wanted[KEY_MAX];
	struct hash hash;
	int rc = read_hash(port_id, &hash);

	if (rc != 0)
		return rc;
	fill_key(wanted, hash.conf.rss_key_len, true);
	rss->symmetric =
		hash.conf.rss_key_len != 0 && memcmp(hash.key, wanted, hash.conf.rss_key_len) == 0;
	rss->fields = hash.conf.rss_hf & FIELDS_L4 ? FLOW_L4 : 0;
	return read_table(port_id, rss);
}

static int write_hash(uint16_t port_id, const struct port_rss *now, const struct port_rss *rss)
{
	struct hash hash;
	int rc = read_hash(port_id, &hash);

	if (rc != 0)
		return rc;
	if (rss->symmetric != now->symmetric && hash.conf.rss_key_len == 0)
		return -ENOTSUP;
	if (rss->symmetric != now->symmetric)
		fill_key(hash.key, hash.conf.rss_key_len, rss->symmetric);
	hash.conf.rss_hf = RTE_ETH_RSS_IP | (rss->fields & FLOW_L4 ? FIELDS_L4 : 0);
	hash.conf.rss_hf &= hash.offers;
	return rte_eth_dev_rss_hash_update(port_id, &hash.conf);
}

static int write_table(uint16_t port_id, const struct port_rss *rss)
{
	struct rte_eth_rss_reta_entry64 groups[GROUPS] = {0};

	for (unsigned i = 0; i < rss->nb_entries; i++) {
		struct rte_eth_rss_reta_entry64 *group = &groups[i / RTE_ETH_RETA_GROUP_SIZE];

		group->mask |= 1ull << i % RTE_ETH_RETA_GROUP_SIZE;
		group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = rss->entries[i];
	}
	return rte_eth_dev_rss_reta_update(port_id, groups, rss->nb_entries);
}

/* Unchanged settings are not written: a device may support only one of the two. */
int ethdev_rss_set(uint16_t port_id, const struct port_rss *rss)
{
	struct port_rss now = {0};
	int rc = ethdev_rss_get(port_id, &now);

	if (rc == 0 && (rss->fields & FLOW_MPLS_INNER) != 0)
		return -ENOTSUP;
	if (rc == 0 && (rss->symmetric != now.symmetric || rss->fields != now.fields))
		rc = write_hash(port_id, &now, rss);
	if (rc == 0 && memcmp(rss->entries, now.entries, sizeof(now.entries)) != 0)
		rc = write_table(port_id, rss);
	return rc;
}
