"""Parts of the kernel that handle packets, by the names of its functions."""

import re

#: Parts of the kernel, by the names of its functions; the first that matches has the samples.
_PARTS: tuple[tuple[str, str], ...] = (
    ("idle", r"\w*idle\w*|mwait_|\w*safe_halt|cpuidle|acpi_processor_ffh|intel_idle"),
    ("packet sockets", r"t?packet_|__packet_|prb_|dev_queue_xmit_nit|run_filter|sock_queue_rcv"),
    ("xdp and bpf", r"bpf_|___?bpf_|xdp_|__xdp_|\w+_xdp(?:_|$)|dev_map_|cpu_map_|xsk_"),
    ("gro", r"\w*gro_|\w+_gro\b|napi_skb_finish|skb_segment|\w*gso_"),
    ("conntrack", r"\w*conntrack|nf_ct_|__nf_ct_|nf_nat_|nf_confirm|nf_flow_|flow_offload"),
    ("nft", r"nft_|__nft_|nf_|ipt_|ip6t_|iptable_|ip6table_|xt_|ebt_|nfnl"),
    ("neighbour", r"neigh_|__neigh_|arp_|ndisc_|__ipv4_neigh|ip6?_finish_output2"),
    ("fib", r"fib\w*_|__fib\w*_|ip_route_|ip_rt_|ip6_route_|ip6_pol_|rt6_|rt_|dst_|__mkroute"
            r"|ip_mkroute|find_exception|find_rr_leaf|l3mdev_|inet_\w*addr|ip6_rt_"),
    ("skb alloc and free", r"\w*kmem_cache|\w*kmalloc|kfree\w*|__kfree\w*|_*slab_|___slab"
            r"|\w*skb_free|skb_release|consume_skb|napi_consume|\w*alloc_skb|\w*build_skb|\w*page_frag|free_unref|\w*memcg_|\w*mem_cgroup"
            r"|\w*free_frozen|\w*alloc_pages|get_page_from|rmqueue|\w*pfnblock|__free_pages"
            r"|sk_skb_reason|page_pool_"
            r"|put_page|__put_|skb_head|skb_ext_|__skb_ext|sock_wfree|\w*cpu_partial|skb_defer"
            r"|skb_attempt|allocate_slab|refill_\w+|memset"),
    ("copy", r"\w*memcpy|\w*memmove|rep_movs|copy_|_copy_|\w*skb_copy|pskb_|__pskb_|csum_"),
    ("qdisc", r"\w*qdisc|sch_|pfifo_|fq_|codel_|tbf_|htb_|netem_|cake_|sfq_|dequeue_skb|try_bulk"
            r"|__dev_xmit_skb|__dev_queue_xmit|dev_hard_start|validate_xmit|netdev_core_pick"
            r"|netdev_pick_tx|tcf_|tc_|tcx_|cls_|fl_|u32_|mirred|gact"),
    ("bridge", r"br_|__br_"),
    ("iommu", r"\w*iommu|\w*_iova|dma_pte|pfn_to_dma|__domain_mapping|intel_(?:un)?map|qi_submit"
              r"|arm_smmu|swiotlb"),
    ("crypto", r"chacha|poly1305|aes|\w*crypto_|gcm_|gf128|ghash|sha\d|wg_|esp_|xfrm_|\w*blake2"),
    ("driver", r"veth_|virtnet_|virtqueue_|vring_|vp_notify|tun_|tap_|vhost_|igb_|igbvf_|igc_|e1000"
            r"|ixgbe|i40e_|iavf_|ice_|mlx[45]|bnxt_|bnx2|r8169|rtl_|rtl8|ag71xx|mtk_|qca|edma_|nfp_|sfc_|efx_|cxgb|qed|be_|tg3_|atl|xennet|ena_|gve_|mv(?:neta|pp2)"
            r"|stmmac_|dpaa2|enetc_|cpsw_|fec_|macb_|bcmgenet|aq_|netvsc_|vmxnet3|dma_"
            r"|dql_|eth_type_trans|macvlan_|vlan_|bond_"),
    ("ip", r"ip_|ip4_|ip6_|ipv6_|ipv4_|__ip_|inet\w*_|icmp|raw_v?4?|udp_|tcp_|mpls_"),
    ("receive", r"\w*netif_|process_backlog|\w*backlog|net_rx_action|handle_softirqs"
            r"|__do_softirq|__?napi_|napi_|get_rps|rps_"
            r"|skb_|__skb_|deliver_|dev_|__dev_"),
    ("locks", r"\w*spin_|queued_|rcu_|__rcu_|mutex_|__local_bh|local_bh|\w*atomic|\w*percpu"),
)  # fmt: skip
_COMPILED = tuple((part, re.compile(pattern)) for part, pattern in _PARTS)
OTHER = "other"
SOURCE = "driver"
#: Modules that are no driver of a card; their functions are named after what they are.
_NO_DRIVERS = re.compile(r"nf_|nft_|x_tables|ip|sch_|cls_|act_|bridge|br_|llc|stp|kernel|unknown")


def part_of(symbol: str, module: str, drivers: frozenset[str]) -> str:
    """Name the part of the kernel that a function of a module belongs to."""
    own = module in drivers or any(symbol.startswith(f"{name}_") for name in drivers)
    if own and not re.search(r"_xdp(?:_|$)", symbol):
        return SOURCE
    for part, pattern in _COMPILED:
        if pattern.match(symbol):
            return part
    # A module whose functions have other names is a card's driver.
    return SOURCE if module and not _NO_DRIVERS.match(module) else OTHER
