"""Addresses of the tester's ports on their links, and what is behind them."""

from collections.abc import Sequence
from ipaddress import IPv4Network, ip_address, ip_interface
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from linerate.base.frozen_model import StrictModel
from linerate.model.box import InterfaceAddress

#: The engine's.
ADDRESSES_MAX = 16


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


#: Addresses of one port: one, or a list of several.
Addresses = Annotated[
    tuple[InterfaceAddress, ...],
    Field(min_length=1, max_length=ADDRESSES_MAX),
    BeforeValidator(_listed, json_schema_input_type=str | list[str]),
]


def _network(value: str) -> str:
    try:
        return str(IPv4Network(value))
    except ValueError as error:
        raise ValueError(f"expected an IPv4 prefix as 10.1.0.0/24, not '{value}'") from error


def _host(value: str) -> str:
    try:
        return str(ip_address(value))
    except ValueError as error:
        raise ValueError(f"expected an address as 100.64.1.1, not '{value}'") from error


Network = Annotated[str, AfterValidator(_network)]
Host = Annotated[str, AfterValidator(_host)]
Vlan = Annotated[int, Field(ge=1, le=4094)]


#: One for each port. A tester of one port has one, or two: on the way out, and on the way back.
EACH = Field(min_length=1, max_length=2)


class TesterAddresses(StrictModel):
    """The tester as two hosts on the links of a device that is there already."""

    #: By port; with `wire: ethdev` they stand in `ports`.
    addresses: Annotated[tuple[Addresses, ...], EACH] | None = None
    #: Prefixes behind the two ports, that the device routes to their addresses.
    networks: tuple[Network, Network] | None = None
    #: Neighbours that frames go to, where these are not the device's ports.
    next_hops: Annotated[tuple[Host, ...], EACH] | None = None
    #: In which the two ports are; without them frames are untagged.
    vlans: Annotated[tuple[Vlan, ...], EACH] | None = None

    @property
    def of_user(self) -> list[str]:
        """Keys of these that are given."""
        return [key for key in TesterAddresses.model_fields if getattr(self, key) is not None]


def neighbors(
    own: Sequence[Addresses], asked: Sequence[str | None], key: str
) -> tuple[str, ...] | None:
    """Neighbours of the ports that can be asked for their MAC addresses; None: no addresses.

    `own` are the tester's addresses, `asked` the neighbours', which `key` of a testbed file gives.
    """
    if not all(own) or len(asked) != len(own):
        return None
    for here, (addresses, neighbor) in enumerate(zip(own, asked, strict=True)):
        if neighbor is None:
            return None
        _check_on_link(addresses, neighbor, key.format(here))
    return tuple(str(ip_interface(neighbor).ip) for neighbor in asked if neighbor)


def _check_on_link(addresses: Addresses, neighbor: str, key: str) -> None:
    asked = ip_interface(neighbor).ip
    own = [ip_interface(address) for address in addresses]
    if any(asked == interface.ip for interface in own):
        raise ValueError(f"{key}: {asked} is the tester's own address")
    if not asked.is_link_local and not any(asked in interface.network for interface in own):
        raise ValueError(
            f"{key}: {asked} is on no subnet of the tester's port ({', '.join(addresses)}): "
            "correct one of them, or give the neighbours as tester.next_hops"
        )
