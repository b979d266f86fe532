"""A device under test that loses in silence: forwards between two interfaces, but for some frames.

`forwarder.py IFACE0 IFACE1 LOSES`, where LOSES is `all`, `half` or `one-flow` (IPv4 source
addresses that end in .7). It counts nothing, and says `ready` when it forwards.
"""

import itertools
import select
import socket
import sys
from collections.abc import Callable

Loses = Callable[[bytes], bool]

ETH_P_ALL = 3
PACKET_OUTGOING = 4
#: linux/socket.h: a buffer beyond what is usually allowed, so that a busy host costs no frame.
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
#: Last byte of the IPv4 source address, in a frame without a VLAN tag.
LAST_OF_SOURCE = 29
LOST_HOST = 7


def losing(which: str) -> Loses:
    """Say which frames are lost."""
    if which == "one-flow":
        return lambda frame: frame[LAST_OF_SOURCE] == LOST_HOST
    every_other = itertools.cycle((True, False))
    return {"all": lambda _: True, "half": lambda _: next(every_other)}[which]


def opened(interface: str) -> socket.socket:
    """Open an interface for all frames."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    link.bind((interface, 0))
    return link


def main() -> None:
    """Forward until it is ended."""
    links = tuple(opened(name) for name in sys.argv[1:3])
    loses = losing(sys.argv[3])
    print("ready", flush=True)
    while True:
        for link in select.select(links, (), ())[0]:
            frame, (_, _, kind, *_) = link.recvfrom(2048)
            if kind != PACKET_OUTGOING and not loses(frame):
                links[link is links[0]].send(frame)


main()
