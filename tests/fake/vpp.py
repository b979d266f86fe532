"""A device that answers as VPP does: forwards between two interfaces, and loses at a place by plan.

`vpp.py IFACE0 IFACE1 SOCKET` listens on SOCKET for a command a connection, as `vppctl` sends it, and
answers in the shape of VPP 26.10 from what it counted. `test lose PLACE` loses every fourth packet
at a place from then on, `test behave HOW` makes it answer as a box in trouble does: `slow`, `cut`,
`paged`, `restarted`.
"""

import os
import select
import socket
import sys
import time
from collections import Counter

ETH_P_ALL = 3
PACKET_OUTGOING = 4
#: linux/socket.h: a buffer beyond what is usually allowed, so that a busy host costs no frame.
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
#: One packet of ONE_OF packets is lost.
ONE_OF = 4
#: Longer than any load of the tests.
SLOW_SECONDS = 4.0
CUT_BYTES = 150
CLOCKS = 300
#: By place: rows of `show errors` that one packet stands in.
ERRORS = {
    "slots": ("e1-tx: no free tx slots",),
    "route": ("null-node: blackholed packets",),
    "ttl": ("ip4-input: ip4 ttl <= 1", "ip4-icmp-error: error message dropped"),
    "acl": ("acl-plugin-in-ip4-fa: ACL deny packets",),
    "handoff": ("worker-handoff: congestion drop",),
    "neighbor": ("ip4-glean: ARP requests throttled",),
}
#: Counters of an interface that packets are in which the graph never saw.
OF_CARD = {"miss": "rx-miss", "buffers": "rx-no-buf"}


class Vpp:
    """Its counters, and its answers."""

    def __init__(self) -> None:
        self.lose = self.behave = ""
        self.start()

    def start(self) -> None:
        """Everything from 0, as after a restart."""
        self.began = time.monotonic()
        self.ports: dict[str, Counter[str]] = {"e0": Counter(), "e1": Counter()}
        self.errors: Counter[str] = Counter()
        self.seen = 0

    def forwards(self, inlet: str, outlet: str, length: int) -> bool:
        """Count a packet; whether it goes on."""
        self.seen += 1
        lost = self.lose if self.lose and self.seen % ONE_OF == 0 else ""
        if lost == "cable":
            return False
        if lost in OF_CARD:
            self.ports[inlet][OF_CARD[lost]] += 1
            return False
        self.count(inlet, "rx", length)
        # Those that pass have rows as well.
        self.errors["acl-plugin-in-ip4-fa: checked packets"] += 1
        self.errors["acl-plugin-in-ip4-fa: ACL permit packets"] += lost != "acl"
        for row in ERRORS.get(lost, ()):
            self.errors[row.replace("e1-tx", f"{outlet}-tx")] += 1
        if not lost or lost == "slots":
            self.count(outlet, "tx", length)
        return not lost

    def count(self, port: str, way: str, length: int) -> None:
        self.ports[port][f"{way} packets"] += 1
        self.ports[port][f"{way} bytes"] += length

    def answer(self, command: str) -> str:
        """Text that is printed for a command."""
        words = command.split()
        if words[0] == "test":
            setattr(self, words[1], "" if words[2] == "nothing" else words[2])
            return ""
        known = {
            "show version verbose": lambda: "Version:    v26.10-stand-in\n",
            "show cpu": lambda: "Base frequency:           2.60 GHz\n",
            "show threads": self.threads,
            "show clock verbose": lambda: f"Time now {time.monotonic() - self.began + 100:.6f}\n",
            "show hardware-interfaces": self.hardware,
            "show interface": self.interfaces,
            "show errors": self.show_errors,
            "show runtime": self.runtime,
        }
        if command not in known:
            return f"{words[0]}: unknown input `{' '.join(words[1:])}'\n"
        return self.troubled(command, known[command]())

    def troubled(self, command: str, text: str) -> str:
        """The answer of a box in trouble; before a load it is well."""
        if self.behave == "slow" and command == "show runtime":
            time.sleep(SLOW_SECONDS)
        if not self.seen or command != "show interface":
            return text
        if self.behave == "cut":
            return text[:CUT_BYTES]
        return f"{text}--More--" if self.behave == "paged" else text

    def threads(self) -> str:
        """In colours, as 26.10 prints it."""
        head = ("ID", "Name", "LWP", "CPU", "Sched", "Loops", "Epolls", "Sleeps", "FdWakeups",
                "WakeReq", "Wakeups")  # fmt: skip
        row = ("1", "vpp_wk_0", os.getpid(), "0", "other (0)", 9, 9, 0, 0, 0, 0)
        heads = " ".join(f"\x1b[33m{word}\x1b[0m" for word in head)
        return f"{heads}\n" + " ".join(f" {word}\x1b[0m" for word in row) + "\n"

    def hardware(self) -> str:
        rows = "".join(f"{name}   1   up   {name}\n  Link speed: unknown\n" for name in self.ports)
        return f"    Name    Idx   Link  Hardware\n{rows}"

    def interfaces(self) -> str:
        lines = ["  Name   Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count"]
        for name, counters in self.ports.items():
            rows = [f"{what}   {value}" for what, value in sorted(counters.items())] or [""]
            lines.append(f"{name}   1   up   9000/0/0/0   {rows[0]}")
            lines += [f"{'':60}{row}" for row in rows[1:]]
        return "\n".join(lines) + "\n"

    def show_errors(self) -> str:
        lines = ["   Count      Node      Reason      Severity "]
        for place, packets in self.errors.items():
            node, _, reason = place.partition(": ")
            severity = "info" if "ARP" in reason else "error"
            lines.append(f"   {packets}    {node}    {reason}    {severity}  ")
        return "\n".join(lines) + "\n"

    def runtime(self) -> str:
        packets = sum(port["rx packets"] for port in self.ports.values())
        calls = packets + 1000
        return (
            "Thread 1 vpp_wk_0 (lcore 1)\n"
            f"Time {time.monotonic() - self.began:.1f}, 10.000000 sec internal node vector rate "
            "1.00 loops/sec 1000.00\n"
            "  vector rates in 1.0000e0, out 1.0000e0, drop 0.0000e0, punt 0.0000e0\n"
            "  Name     State    Calls    Vectors    Suspends   Packet-Clocks   Vectors/Call\n"
            f"ip4-lookup   active   {packets}   {packets}   0   {CLOCKS:.2e}   1.00\n"
            f"memif-input  polling  {calls}   {packets}   0   {CLOCKS:.2e}   "
            f"{packets / calls:.2f}\n".replace(" 0.", " .")
        )


def opened(interface: str) -> socket.socket:
    """Open an interface for all frames."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    link.bind((interface, 0))
    return link


def serve(vpp: Vpp, listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(5)
        command = connection.makefile("r").readline().strip()
        connection.sendall(vpp.answer(command).encode())


def main() -> None:
    """Forward and answer until it is ended."""
    links = {opened(name): at for at, name in enumerate(sys.argv[1:3])}
    both, names = list(links), ("e0", "e1")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[3])
    listener.listen(8)
    vpp = Vpp()
    print("ready", flush=True)
    while True:
        for ready in select.select([*both, listener], (), ())[0]:
            if ready is listener:
                serve(vpp, listener)
                continue
            frame, (_, _, kind, *_) = ready.recvfrom(2048)
            at = links[ready]
            if kind != PACKET_OUTGOING and vpp.forwards(names[at], names[1 - at], len(frame)):
                both[1 - at].send(frame)
            if vpp.behave == "restarted" and vpp.seen == 500:
                vpp.start()
                vpp.began += 100
                vpp.behave = ""


if __name__ == "__main__":
    main()
