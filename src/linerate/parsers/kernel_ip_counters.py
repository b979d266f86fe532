"""Counters of a kernel's IP (RFC 1213, 4293), and the losses that they stand for."""

RP_FILTER = "TcpExt.IPReversePathFilter"
#: RFC 1213 ipGroup in /proc/net/snmp, and IpExt in /proc/net/netstat: packets not forwarded.
IP = {
    "Ip.InHdrErrors": "ip: header errors, or TTL exceeded",
    "Ip.InAddrErrors": "ip: wrong destination address, or forwarding is off",
    "Ip.InUnknownProtos": "ip: unknown protocol",
    "Ip.InDiscards": "ip: discarded on the way in",
    "Ip.OutDiscards": "ip: discarded on the way out",
    "Ip.OutNoRoutes": "ip: no route on the way out",
    "Ip.FragFails": "ip: longer than the MTU",
    "IpExt.InNoRoutes": "ip: no route",
    "IpExt.InTruncatedPkts": "ip: truncated",
    RP_FILTER: "ip: source fails the reverse path filter (rp_filter)",
}
IP6 = {
    "Ip6InHdrErrors": "ip6: header errors, or hop limit exceeded",
    "Ip6InTooBigErrors": "ip6: longer than the MTU",
    "Ip6InNoRoutes": "ip6: no route",
    "Ip6InAddrErrors": "ip6: wrong destination address",
    "Ip6InDiscards": "ip6: discarded on the way in",
    "Ip6OutDiscards": "ip6: discarded on the way out",
    "Ip6OutNoRoutes": "ip6: no route on the way out",
}


def pairs_of(text: str) -> dict[str, int]:
    """`Ip.InHdrErrors` and its like: a line of names, then one of values (net/ipv4/proc.c)."""
    found: dict[str, int] = {}
    names: list[str] = []
    group = ""
    for line in text.splitlines():
        head, colon, rest = line.partition(":")
        values = rest.split()
        if not colon:
            continue
        if head == group and len(values) == len(names):
            pairs = zip(names, values, strict=True)
            found |= {f"{head}.{name}": int(value) for name, value in pairs if _is_int(value)}
            group = ""
        else:
            group, names = head, values
    return found


def _is_int(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
