"""Lines for grout, as for `grcli` or the file that it starts with."""

import shlex
from collections.abc import Sequence

from linerate.lab.box.configuration import register
from linerate.model.box_setup import Missing


class GroutConfiguration:
    """grout's command line, of version 0.10 and newer."""

    name = "grout"

    def lines(self, missing: Sequence[Missing]) -> tuple[str, ...]:
        """A neighbour is a next hop of layer 3 there."""
        found = []
        for one in missing:
            wanted = one.wanted
            if one.link_up:
                found.append(f"interface set port {wanted.port} up")
            if one.address:
                found.append(f"address add {wanted.address} iface {wanted.port}")
            if one.neighbor:
                found.append(
                    f"nexthop add l3 iface {wanted.port} address {wanted.neighbor} "
                    f"mac {wanted.neighbor_mac}"
                )
            if one.route:
                found.append(f"route add {wanted.network} via {wanted.neighbor}")
        return tuple(found)

    def command(self, line: str, socket: str) -> str:
        """The line by way of grcli."""
        return f"grcli{f' -s {shlex.quote(socket)}' if socket else ''} {line}"


register(GroutConfiguration())
