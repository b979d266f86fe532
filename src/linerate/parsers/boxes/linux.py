"""Box `linux`: a kernel that forwards, asked by iproute2, nftables, ethtool and /proc.

A packet that crossed a port is lost inside when some layer counts it: the backlog of a CPU, tc's
queues and filters, IP, connection tracking, a rule of nftables that drops and has a counter.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.box_path import DERIVED
from linerate.model.evidence import CpuCounters, Evidence, Node, Quote, Worker
from linerate.parsers.boxes import (
    Asked,
    Counted,
    Question,
    UnreadableError,
    _hardware,
    _kernel_drops,
    _kernel_profile,
    _kernel_ticks,
    _link_faults,
    _napi_threads,
    register,
)
from linerate.parsers.kernel_ip_counters import IP, IP6, RP_FILTER, pairs_of
from linerate.parsers.kernel_parts import SOURCE
from linerate.parsers.text import text_of
from linerate.parsers.tools.ethtool_stats import ethtool_stats
from linerate.parsers.tools.softnet_stat import softnet_stat

#: A CPU with less softirq than that does not forward.
SOFTIRQ_PERCENT_MIN = 2.0
#: A CPU that its hypervisor took away for longer was not the box's.
STEAL_PERCENT_MIN = 2.0
_PCI = re.compile(r"/([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])(?=/|\s|$)")
#: Routes that drop: only those that a packet is answered for have a counter, of answers.
_SILENT_ROUTES = ("blackhole", "prohibit", "unreachable", "throw")
#: A port's own counters (linux/if_link.h): packets that did not become one of `rx_packets`, or
#: did not leave by `tx_packets`.
_RX_LOSSES = {
    "missed_errors": "rx missed",
    "crc_errors": "rx CRC errors",
    "length_errors": "rx length errors",
    "frame_errors": "rx frame errors",
}
#: vmxnet3 (vmxnet3_get_stats64): what its rings had no room for is in no counter of the port.
_RING_ALONE = re.compile(r"rxq\d{1,5} pkts rx (?:OOB|out of buf)")
_TX_LOSSES = {"dropped": "tx dropped by the interface", "errors": "tx errors"}
#: /proc/net/stat/nf_conntrack: packets for which the table had no room, or that it refused.
_CONNTRACK = {"drop": "conntrack: no room for a new connection"}
#: /proc/net/stat/rt_cache (net/ipv4/route.c).
_ROUTES = {
    "in_martian_src": "ip: martian source address",
    "in_martian_dst": "ip: martian destination address",
}
#: A driver's counters of frames that its XDP program dropped: of the port, or of each queue.
_XDP_DROPS = re.compile(r"^\s*(\S*xdp_drops?):\s*(\d{1,20})\s*$", re.MULTILINE)
_NEIGHBOUR = {"unresolved_discards": "no neighbour: queue of an unresolved address full"}


class LinuxBox:
    """Linux as a router, bridge or firewall."""

    name = "linux"
    has_shell = True

    def facts(self, asked: Asked) -> tuple[Question, ...]:
        """Kernel, CPU, addresses, routes, neighbours, and each port's card."""
        of_ports = [
            Question(f"ethtool{option} {name}", f"ethtool {option} {name}".replace("  ", " "))
            for name in asked.ports.values()
            for option in ("", " -i", " -l", " -g", " -k")
        ]
        return (
            Question("uname -a", "uname -a"),
            Question("os-release", "cat /etc/os-release"),
            Question("cpuinfo", "sed '/^$/q' /proc/cpuinfo"),
            Question("ip -d link", "ip -d -j link show"),
            Question("ip addr", "ip addr show"),
            Question("ip route", "ip route show table all"),
            Question("forwarding", "cat /proc/sys/net/ipv4/ip_forward"),
            Question("governor", "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            *of_ports,
            *(
                Question(f"device {name}", f"readlink -f /sys/class/net/{name}/device || true")
                for name in asked.ports.values()
            ),
            *_hardware.FACTS,
            Question("perf", _kernel_profile.ABLE),
        )

    def counters(self, asked: Asked) -> tuple[Question, ...]:
        """All counters of packets, and of the CPUs' time."""
        return (
            Question(_link_faults.QUESTION, "ip -s -s -d -j link show", required=True),
            Question("snmp", "cat /proc/net/snmp", required=True),
            Question("netstat", "cat /proc/net/netstat"),
            Question("snmp6", "cat /proc/net/snmp6"),
            Question("softnet_stat", "cat /proc/net/softnet_stat"),
            Question("tc -s qdisc", "tc -s -j qdisc show"),
            Question("nft", "nft -j list ruleset"),
            Question("nf_conntrack", "cat /proc/net/stat/nf_conntrack"),
            Question("rt_cache", "cat /proc/net/stat/rt_cache"),
            Question("arp_cache", "cat /proc/net/stat/arp_cache"),
            Question("ndisc_cache", "cat /proc/net/stat/ndisc_cache"),
            # They drop and count nothing: looked for in each trial, as they may come and go.
            *(
                Question(f"ip route: {kind}", f"ip route show table all type {kind}")
                for kind in _SILENT_ROUTES
            ),
            Question("ip neigh", "ip neigh show"),
            *(
                Question(f"ethtool -S {port}", f"ethtool -S {port}")
                for port in asked.ports.values()
            ),
        )

    def at_load(self, _asked: Asked) -> tuple[Question, ...]:
        """Time of each CPU, and the packets that it took from the backlog."""
        return (
            _kernel_ticks.QUESTION,
            Question("softnet_stat", "cat /proc/net/softnet_stat"),
            Question("softirqs", "cat /proc/softirqs"),
            _napi_threads.QUESTION,
            *_hardware.AT_LOAD,
        )

    def clear(self, _asked: Asked) -> tuple[Question, ...]:
        """Nothing: the kernel's counters are differences anyway."""
        return ()

    def counted(self, texts: Mapping[str, str], asked: Asked) -> Counted:
        """Ports, and losses by layer."""
        links = _link_faults.links(texts.get(_link_faults.QUESTION, ""))
        counted = Counted()
        for port, name in asked.ports.items():
            link = links.get(name)
            if link is None or not _stats(link, "rx") or not _stats(link, "tx"):
                raise UnreadableError(
                    f"no interface {name} on the box; `ip link` has {_some(links)}"
                )
            counted.ports[port] = _port(link)
            # Those reached the port too: they are lost behind the wire, not on it.
            missed = sum(_stats(link, "rx").get(name, 0) for name in _RX_LOSSES)
            counted.ports[port]["rx_packets"] = counted.ports[port].get("rx_packets", 0) + missed
            counted.losses |= _port_losses(port, link)
            ring = _ring_full(texts.get(f"ethtool -S {name}", ""))
            if ring is not None:
                counted.ports[port]["rx_packets"] += ring
                counted.losses[f"{port}: rx ring full"] = ring
            counted.losses[f"{port}: XDP program drops"] = _xdp_drops(
                texts.get(f"ethtool -S {name}", "")
            )
        backlog = _backlog(texts.get("softnet_stat", ""))
        # The core's drops at reception: those with a full backlog, the others no protocol took.
        dropped = sum(counters.get("rx_dropped", 0) for counters in counted.ports.values())
        counted.losses[f"received, and {DERIVED}"] = dropped - sum(backlog.values())
        # A packet that a veth's backlog has no room for is refused to the sender, who counts it.
        if not any(_is_veth(links[name]) for name in asked.ports.values()):
            counted.losses |= backlog
        counted.losses |= _ip_losses(texts)
        counted.losses |= _queues(_link_faults.json_list(texts.get("tc -s qdisc", "")), asked)
        counted.losses |= _rules(texts.get("nft", ""))
        counted.losses |= _per_cpu(texts.get("nf_conntrack", ""), _CONNTRACK)
        counted.losses |= _martians(texts, counted.losses[IP[RP_FILTER]])
        for table in ("arp_cache", "ndisc_cache"):
            for place, packets in _per_cpu(texts.get(table, ""), _NEIGHBOUR).items():
                counted.losses[place] = counted.losses.get(place, 0) + packets
        return counted

    def evidence(self, box: BoxAnswers) -> Evidence:
        """Each CPU that was in softirq: its time within the load, and the packets it took."""
        workers = tuple(_workers(box))
        return Evidence(
            workers=workers,
            pcie=_hardware.pcie_links(_facts(box), _devices(box)),
            silent=tuple(_silent(box)),
            unplugged=tuple(_link_faults.unplugged(box)),
            misaddressed=tuple(_link_faults.misaddressed(box)),
            suspect=tuple(_slowed(box, workers)),
            doubts=tuple(_unprofiled(box)),
        )

    def profile(self, seconds: float, wait_seconds: float) -> Question:
        """Samples of all CPUs, and of packets that are dropped."""
        return _kernel_profile.question(seconds, wait_seconds)

    def dropped(self, box: BoxAnswers, losses: Mapping[str, int], seconds: float) -> dict[str, int]:
        """Packets dropped in the kernel for reasons that no counter has, by reason."""
        return _kernel_drops.by_place(_profile(box), losses, seconds)


def _some(links: Mapping[str, object]) -> str:
    return ", ".join(sorted(links)[:8]) or "none"


def _is_veth(link: Mapping[str, Any]) -> bool:
    kind = link.get("linkinfo")
    return isinstance(kind, dict) and kind.get("info_kind") == "veth"


def _port(link: Mapping[str, Any]) -> dict[str, int]:
    return {
        f"{way}_{name}": value for way in ("rx", "tx") for name, value in _stats(link, way).items()
    }


def _stats(link: Mapping[str, Any], way: str) -> dict[str, int]:
    """Counters of one way of a port; none where the answer has something else there."""
    both = link.get("stats64")
    found = both.get(way) if isinstance(both, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if type(value) is int}


def _port_losses(port: str, link: Mapping[str, Any]) -> dict[str, int]:
    rx, tx = (_stats(link, way) for way in ("rx", "tx"))
    losses = {f"{port}: {words}": rx.get(name, 0) for name, words in _RX_LOSSES.items()}
    losses |= {f"{port}: {words}": tx.get(name, 0) for name, words in _TX_LOSSES.items()}
    # Frames to another MAC address crossed the port, and are dropped in ip_rcv().
    losses[f"{port}: to another MAC address"] = rx.get("otherhost", 0)
    return losses


def _ring_full(text: str) -> int | None:
    """Packets that found the ring full and are in the driver's counters alone; None without one."""
    read = ethtool_stats(text_of(text, "ethtool -S"))
    counters = [one.counters for one in read.ports] if read is not None else []
    found = [n for each in counters for name, n in each.items() if _RING_ALONE.fullmatch(name)]
    return sum(found) if found else None


def _xdp_drops(text: str) -> int:
    """Frames that a driver says XDP dropped: its total, or those of all queues."""
    found = {name: int(packets) for name, packets in _XDP_DROPS.findall(text)}
    whole = [packets for name, packets in found.items() if not re.search(r"\d", name)]
    return max(whole) if whole else sum(found.values())


def _xdp_programs(links: str, ports: Mapping[str, str]) -> Iterator[Quote]:
    """Ports with an XDP program: where no driver of the port's runs it, none counts its drops."""
    for link in _link_faults.json_list(links):
        program = link.get("xdp")
        if link.get("ifname") in ports.values() and isinstance(program, dict) and program:
            attached = program.get("prog")
            number = attached.get("id", "") if isinstance(attached, dict) else ""
            text = f"XDP program {number} at {link['ifname']}"
            yield Quote(source="ip -s link", line=1, text=text)


def _backlog(text: str) -> dict[str, int]:
    return {
        f"backlog of CPU {one.cpu} full": one.counters.get("dropped", 0) for one in _softnet(text)
    }


def _softnet(text: str) -> tuple[CpuCounters, ...]:
    read = softnet_stat(text_of(text, "softnet_stat"))
    return read.cpus if read is not None else ()


def _ip_losses(texts: Mapping[str, str]) -> dict[str, int]:
    pairs = pairs_of(texts.get("snmp", "")) | pairs_of(texts.get("netstat", ""))
    rows = (line.split() for line in texts.get("snmp6", "").splitlines())
    six = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdecimal()}
    losses = {words: pairs.get(name, 0) for name, words in IP.items()}
    return losses | {words: six.get(name, 0) for name, words in IP6.items()}


def _martians(texts: Mapping[str, str], by_filter: int) -> dict[str, int]:
    """Martians but for those that the reverse path filter counts too (net/ipv4/route.c)."""
    found = _per_cpu(texts.get("rt_cache", ""), _ROUTES)
    source = _ROUTES["in_martian_src"]
    return found | {source: found[source] - by_filter} if source in found else found


def _queues(qdiscs: list[dict[str, Any]], asked: Asked) -> dict[str, int]:
    """Drops of tc on the box's ports; an outermost queue counts for those below it."""
    ports = {name: port for port, name in asked.ports.items()}
    losses: dict[str, int] = {}
    for qdisc in qdiscs:
        port, kind = ports.get(str(qdisc.get("dev"))), str(qdisc.get("kind"))
        drops = qdisc.get("drops")
        if port is None or not isinstance(drops, int):
            continue
        if kind in ("ingress", "clsact"):
            losses[f"{port}: tc filter or policer drops"] = drops
        elif qdisc.get("root"):
            losses[f"{port}: tc queue {kind} drops"] = drops
    return losses


def _rules(text: str) -> dict[str, int]:
    """Rules of nftables that drop or reject, and count."""
    items = _nft(text)
    named = {
        (str(one["family"]), str(one["table"]), str(one["name"])): one.get("packets", 0)
        for one in _of_type(items, "counter")
        if {"family", "table", "name"} <= one.keys()
    }
    losses: dict[str, int] = {}
    for rule in filter(_drops, _of_type(items, "rule")):
        where = (str(rule.get("family")), str(rule.get("table")))
        for part in _expressions(rule):
            counter = part.get("counter")
            inline = counter.get("packets") if isinstance(counter, dict) else None
            known = named.get((*where, counter)) if isinstance(counter, str) else inline
            if isinstance(known, int):
                chain = f"nft {rule.get('table')} {rule.get('chain')}"
                losses[f"{chain}: rule {rule.get('handle')} drops"] = known
    return losses


def _nft(text: str) -> object:
    """Objects of a ruleset (libnftables-json(5)); none where it is none."""
    try:
        return json.loads(text[text.index("{") :])["nftables"] if "{" in text else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _expressions(rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = rule.get("expr")
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def _drops(rule: Mapping[str, Any]) -> bool:
    return any("drop" in part or "reject" in part for part in _expressions(rule))


def _of_type(items: object, kind: str) -> Iterator[dict[str, Any]]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get(kind), dict):
            yield item[kind]


def _per_cpu(text: str, wanted: Mapping[str, str]) -> dict[str, int]:
    """Sums over the CPUs of a table of /proc/net/stat: names, then hexadecimal columns."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if len(rows) < 2:
        return {}
    sums = dict.fromkeys(wanted.values(), 0)
    for row in rows[1:]:
        for name, value in zip(rows[0], row, strict=False):
            if name in wanted:
                try:
                    sums[wanted[name]] += int(value, 16)
                except ValueError:
                    return {}
    return sums


def _silent(box: BoxAnswers) -> Iterator[Quote]:
    """Settings that drop without counting: routes, neighbours that do not answer, rules."""
    known = {answer.question: answer.text for answer in box.answers}
    for kind in _SILENT_ROUTES:
        yield from _lines(f"ip route: {kind}", known, "")
    ports = "|".join(map(re.escape, box.ports.values()))
    yield from _lines("ip neigh", known, rf"dev (?:{ports}) .*(?:FAILED|INCOMPLETE)")
    yield from _silent_rules(_nft(known.get("nft", "")))
    yield from _xdp_programs(known.get("ip -s link", ""), box.ports)


def _lines(question: str, known: Mapping[str, str], pattern: str) -> Iterator[Quote]:
    """Lines of an answer that fit, without those that every kernel has."""
    for number, line in enumerate(known.get(question, "").splitlines(), start=1):
        text = " ".join(line.split())
        if text and re.search(pattern, text) and "dev lo" not in text:
            yield Quote(source=question, line=number, text=text)


def _silent_rules(items: object) -> Iterator[Quote]:
    for chain in _of_type(items, "chain"):
        if chain.get("policy") == "drop":
            name = f"{chain.get('table')} {chain.get('name')}"
            yield Quote(source="nft", line=1, text=f"nft {name}: policy drop")
    for rule in _of_type(items, "rule"):
        if _drops(rule) and not any("counter" in part for part in _expressions(rule)):
            text = f"nft {rule.get('table')} {rule.get('chain')}: rule {rule.get('handle')} drop"
            yield Quote(source="nft", line=1, text=text)


def _facts(box: BoxAnswers) -> dict[str, str]:
    return texts([answer for answer in box.answers if answer.moment == "facts"])


def _profile(box: BoxAnswers) -> str:
    return texts([answer for answer in box.answers if answer.moment == "profile"]).get(
        _kernel_profile.QUESTION, ""
    )


def _devices(box: BoxAnswers) -> list[str]:
    """PCI addresses of the ports; a virtio port's device is below its slot."""
    known = _facts(box)
    found = (_PCI.findall(known.get(f"device {name}", "")) for name in box.ports.values())
    return [addresses[-1].lower() for addresses in found if addresses]


def _slowed(box: BoxAnswers, workers: Sequence[Worker]) -> Iterator[str]:
    """CPUs that lost frequency, and those that the hypervisor took away."""
    batches = box.batches("load")
    if len(batches) > 1 and workers:
        cpus = [worker.cpu for worker in workers if worker.cpu is not None]
        yield from _hardware.slowed(texts(batches[0]), texts(batches[-1]), cpus)
        for cpu, ticks in _kernel_ticks.between(batches[0], batches[-1]).items():
            if cpu in cpus and ticks.all and ticks.stolen_percent >= STEAL_PERCENT_MIN:
                how = "its timer did not tick" if ticks.missing else "steal"
                yield (
                    f"CPU {cpu} of the box was taken away by its hypervisor for "
                    f"{ticks.stolen_percent:.0f} % of the window ({how})"
                )
    governor = _facts(box).get("governor", "").strip()
    if workers and re.fullmatch(r"[a-z]{1,30}", governor) and governor != "performance":
        yield f"the box's CPUs run with the governor {governor}, not performance"


def _unprofiled(box: BoxAnswers) -> Iterator[Quote]:
    """Why no profile says where the kernel's cycles went, in a line."""
    for answer in box.answers:
        asked = (answer.moment, answer.question)
        if answer.problem and asked in (("facts", "perf"), ("profile", _kernel_profile.QUESTION)):
            yield Quote(source=answer.question, line=1, text=answer.problem)
            return


def _workers(box: BoxAnswers) -> Iterator[Worker]:
    batches = box.batches("load")
    if len(batches) < 2:
        return
    first, last = batches[0], batches[-1]
    hertz, processed = _hertz(box), _processed(first, last)
    profiled = _kernel_profile.parts(_profile(box), _kernel_profile.drivers_of(_facts(box)))
    for cpu, ticks in _kernel_ticks.between(first, last).items():
        worker = _worker(cpu, ticks, processed, hertz, profiled.get(cpu, {}))
        if cpu not in box.tester_cpus and worker is not None:
            yield worker
    yield from _napi_threads.workers(first, last, box.ports.values())


def _processed(first: tuple[Answer, ...], last: tuple[Answer, ...]) -> dict[int, int]:
    """By CPU: packets that its softirq took, modulo 2^32 as the kernel counts them."""
    before, after = (
        {one.cpu: one.counters["processed"] for one in _softnet(texts(at).get("softnet_stat", ""))}
        for at in (first, last)
    )
    return {cpu: (count - before[cpu]) % 2**32 for cpu, count in after.items() if cpu in before}


def _worker(
    cpu: int,
    ticks: _kernel_ticks.Ticks,
    processed: Mapping[int, int],
    hertz: float,
    profile: Mapping[str, _kernel_profile.Part],
) -> Worker | None:
    """One CPU: softirq is the forwarder, threads and steal take the CPU from it, idle is spare."""
    if ticks.all <= 0 or ticks.percent("softirq") < SOFTIRQ_PERCENT_MIN:
        return None
    seconds, packets = ticks.all / _kernel_ticks.TICKS_PER_SECOND, processed.get(cpu, 0)
    clocks = ticks.percent("softirq") / 100.0 * seconds * hertz / packets if packets else None
    quote = Quote(source=_kernel_ticks.QUESTION.name, line=ticks.line, text=_shares(cpu, ticks))
    node = Node(
        name="softirq",
        state="polling",
        calls=packets,
        vectors=packets,
        clocks_per_packet=clocks,
        vectors_per_call=1.0,
        quote=quote,
    )
    return Worker(
        name=f"kernel-cpu{cpu}",
        cpu=cpu,
        seconds=seconds,
        tsc_hz=hertz or None,
        in_pps=packets / seconds,
        nodes=tuple(_rows(node, profile)) if profile else (node,),
        idle_in_clocks=False,
        spare_percent=ticks.percent("idle", "iowait"),
        away_percent=ticks.percent("user", "nice", "system") + ticks.stolen_percent,
        stolen_percent=ticks.stolen_percent,
        quote=quote,
    )


def _shares(cpu: int, ticks: _kernel_ticks.Ticks) -> str:
    softirq, idle = ticks.percent("softirq"), ticks.percent("idle")
    taken = f", {ticks.stolen_percent:.1f} % taken by its hypervisor" if ticks.missing else ""
    return f"CPU {cpu}: {softirq:.1f} % in softirq, {idle:.1f} % idle{taken}"


def _rows(softirq: Node, profile: Mapping[str, _kernel_profile.Part]) -> Iterator[Node]:
    """The CPU's time in softirq, divided among the parts of the kernel as its samples are.

    Packets enter by the driver; a part without a sample has no row.
    """
    nothing = _kernel_profile.Part(0, softirq.quote.line, softirq.quote.text)
    source = SOURCE
    every = {source: profile.get(source, nothing)} | dict(profile)
    of_all = sum(part.samples for part in every.values())
    for name, part in every.items():
        share = part.samples / of_all
        spent = softirq.clocks_per_packet
        quote = softirq.quote
        if part is not nothing:
            quote = Quote(source=_kernel_profile.QUESTION, line=part.line, text=part.text)
        yield softirq.model_copy(
            update={
                "name": name,
                "state": softirq.state if name == source else "active",
                "clocks_per_packet": None if spent is None else spent * share,
                "quote": quote,
            }
        )


def _hertz(box: BoxAnswers) -> float:
    """Clocks a second, as /proc/cpuinfo says; 0 where it does not."""
    for answer in box.answers:
        if answer.question == "cpuinfo":
            for line in answer.text.splitlines():
                name, _, value = line.partition(":")
                if name.strip() == "cpu MHz":
                    try:
                        return float(value) * 1e6
                    except ValueError:
                        return 0.0
    return 0.0


register(LinuxBox())
