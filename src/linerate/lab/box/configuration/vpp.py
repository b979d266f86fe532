"""Lines for VPP, as for `vppctl` or a file of `exec`."""

import shlex
from collections.abc import Sequence

from linerate.lab.box.configuration import register
from linerate.model.box_setup import Missing


class VppConfiguration:
    """VPP's command line."""

    name = "vpp"

    def lines(self, missing: Sequence[Missing]) -> tuple[str, ...]:
        """Routes name their interface: one by a neighbour alone is looked up for each packet."""
        found = []
        for one in missing:
            wanted = one.wanted
            if one.link_up:
                found.append(f"set interface state {wanted.port} up")
            if one.address:
                found.append(f"set interface ip address {wanted.port} {wanted.address}")
            if one.route:
                found.append(f"ip route add {wanted.network} via {wanted.neighbor} {wanted.port}")
            if one.neighbor:
                found.append(
                    f"set ip neighbor {wanted.port} {wanted.neighbor} {wanted.neighbor_mac} static"
                )
        return tuple(found)

    def command(self, line: str, socket: str) -> str:
        """The line by way of vppctl."""
        return f"vppctl{f' -s {shlex.quote(socket)}' if socket else ''} {line}"


register(VppConfiguration())
