"""Lines for Linux: iproute2 and sysctl; they last until the next boot."""

from collections.abc import Sequence

from linerate.lab.box.configuration import any_of, register
from linerate.model.box_setup import Missing


class LinuxConfiguration:
    """Commands of a shell."""

    name = "linux"

    def lines(self, missing: Sequence[Missing]) -> tuple[str, ...]:
        """`replace` where there may be a wrong one already."""
        found = []
        for one in missing:
            wanted = one.wanted
            if one.link_up:
                found.append(f"ip link set {wanted.port} up")
            if one.address:
                found.append(f"ip address add {wanted.address} dev {wanted.port}")
            if one.route:
                found.append(
                    f"ip route replace {wanted.network} via {wanted.neighbor} dev {wanted.port}"
                )
            if one.neighbor:
                found.append(
                    f"ip neighbour replace {wanted.neighbor} lladdr {wanted.neighbor_mac} "
                    f"dev {wanted.port} nud permanent"
                )
        if any_of(missing, "forwarding"):
            found.append("sysctl -w net.ipv4.ip_forward=1")
        return tuple(found)

    def command(self, line: str, _socket: str) -> str:
        """The line itself."""
        return line


register(LinuxConfiguration())
