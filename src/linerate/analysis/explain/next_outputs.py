"""Outputs that a reader of a paste would ask for next, by the system that it is of."""

from linerate.model.evidence import Evidence

#: Words of an output's name, and the commands of that system that tell most, with their names.
_SYSTEMS: tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...] = (
    (
        ("VPP",),
        (
            (
                "VPP show runtime",
                "under load: vppctl clear runtime; sleep 1; vppctl show runtime",
            ),
            ("VPP show errors", "vppctl show errors"),
            ("VPP show hardware-interfaces", "vppctl show hardware-interfaces"),
            ("VPP show interface", "vppctl show interface"),
        ),
    ),
    (
        ("testpmd", "DPDK telemetry"),
        (
            ("dpdk-testpmd statistics", "testpmd: show port xstats all; show fwd stats all"),
            (
                "DPDK telemetry",
                "dpdk-telemetry.py under load, twice: /ethdev/xstats,0 and /eal/lcore/usage",
            ),
        ),
    ),
    (
        ("grout",),
        (
            ("grout graph", "under load: grcli stats show software"),
            ("grout interfaces", "grcli interface stats; grcli stats show hardware"),
        ),
    ),
    (
        ("DPVS",),
        (("DPVS lcores", "dpip -s link show cpu1, twice under load, and of each lcore"),),
    ),
    (
        ("Contrail",),
        (
            (
                "Contrail dropstats",
                "dropstats; under load: top -H -p $(pidof contrail-vrouter-dpdk)",
            ),
        ),
    ),
    (
        ("PF_RING",),
        (
            ("PF_RING reader", "under load: top -H of the program that reads the ring"),
            ("ethtool -S", "ethtool -S ETH, twice, ten seconds between"),
        ),
    ),
    (
        ("SONiC",),
        (
            ("SONiC drops", "show dropcounters counts"),
            ("SONiC queues", "show queue counters; show priority-group drop counters"),
        ),
    ),
    (
        ("Open vSwitch",),
        (
            (
                "Open vSwitch PMD threads",
                "under load: ovs-appctl dpif-netdev/pmd-stats-clear; sleep 10; ovs-appctl "
                "dpif-netdev/pmd-stats-show",
            ),
            ("Open vSwitch ports", "ovs-vsctl list interface"),
            ("Open vSwitch coverage", "ovs-appctl coverage/show"),
        ),
    ),
    (
        ("FreeBSD",),
        (
            ("top -HSP", "under load: top -b -HSP"),
            ("vmstat", "vmstat -i; netstat -Q"),
            ("sysctl", "sysctl dev.IF.N, twice, ten seconds between"),
        ),
    ),
    (
        ("RouterOS",),
        (
            ("profile", "under load: /tool profile cpu=all"),
            ("ethernet", "/interface ethernet print stats, twice, ten seconds between"),
        ),
    ),
    (
        ("packet filter",),
        (
            ("counters of links", "ip -s -s link show"),
            ("counters of the kernel's IP", "nstat -az"),
        ),
    ),
    (
        ("counters of the kernel's IP", "traced drops"),
        (
            ("counters of the kernel's IP", "nstat -az, twice, ten seconds between"),
            ("traced drops", "perf record -a -e skb:kfree_skb sleep 5; perf script"),
            ("counters of links", "ip -s -s link show"),
        ),
    ),
    (
        ("lines of dmesg", "conntrack -S", "rates of interfaces"),
        (
            ("conntrack -S", "conntrack -S, twice, ten seconds between"),
            ("counters of links", "ip -s -s link show"),
            ("ethtool -S", "ethtool -S ETH, twice, ten seconds between"),
        ),
    ),
    (
        ("tc -s",),
        (
            ("ethtool settings", "ethtool ETH: the rate of its link"),
            ("counters of links", "ip -s -s link show dev ETH"),
        ),
    ),
    (
        ("ethtool", "softnet", "interrupts", "ip -s", "/proc", "mpstat", "perf", "qdisc", "nstat"),
        (
            ("ethtool -S", "ethtool -S ETH, twice, ten seconds between"),
            ("softnet", "cat /proc/net/softnet_stat"),
            ("mpstat", "under load: mpstat -P ALL 1 5"),
        ),
    ),
)
_TESTER = "the load generator's statistics: packets sent and received, share of the line"


def next_outputs(evidence: Evidence) -> tuple[str, ...]:
    """Return the commands whose output is not there yet; none for a trial of the lab's."""
    if evidence.conditions is not None or not evidence.outputs:
        return ()
    names = " ".join(evidence.outputs)
    wanted = [
        command
        for words, commands in _SYSTEMS
        if any(word in names for word in words)
        for output, command in commands
        if output not in names
    ]
    return (*wanted, *(() if evidence.testers else (_TESTER,)))
