"""Addresses, routes, neighbours and forwarding of a box, compared with the testbed."""

from collections.abc import Iterator

from linerate.model.box_setup import Missing, Route, Setup, Wanted
from linerate.model.findings import Finding


def routing(setup: Setup, lacks: tuple[Missing, ...]) -> Iterator[Finding]:
    """Lines for both sides; fixes are printed together, in the box's own language."""
    # Both sides of a hairpin have the same neighbour.
    yield from dict.fromkeys(line for one in lacks for line in _side(setup, one))
    if setup.forwards is not None:
        off = not setup.forwards
        yield _line("forwarding", "", "off" if off else "on", "on", off)


def _side(setup: Setup, lacks: Missing) -> Iterator[Finding]:
    wanted = lacks.wanted
    interface = setup.interfaces.get(wanted.port)
    if interface is None:
        return
    has = ", ".join(interface.addresses) or "none"
    yield _line("address", wanted.port, has, wanted.address, lacks.address)
    if wanted.network:
        route = _route(setup.route_to(wanted.network))
        there = f"via {wanted.neighbor}, {wanted.port}"
        yield _line("route", wanted.network, route, there, lacks.route)
    else:
        found = "each pass has its own, which are not read: first packets show the way"
        yield Finding(check="route", state="unknown", found=found)
    yield _neighbor(setup, wanted, lacks.neighbor)


def _line(check: str, subject: str, found: str, wanted: str, wrong: bool) -> Finding:
    return Finding(
        check=check,
        subject=subject,
        state="fault" if wrong else "ok",
        found=found,
        wanted=wanted if wrong else "",
    )


def _route(route: Route | None) -> str:
    if route is None:
        return "none"
    if route.drops:
        return f"{route.prefix}: {route.drops}"
    way = [f"via {route.via}"] * bool(route.via) + [route.interface] * bool(route.interface)
    return f"{route.prefix} {', '.join(way)}"


def _neighbor(setup: Setup, wanted: Wanted, lacking: bool) -> Finding:
    known = [
        one.mac
        for one in setup.neighbors
        if one.address == wanted.neighbor and one.interface == wanted.port
    ]
    if not known and wanted.answers:
        found = f"not asked for yet: {wanted.tester} answers"
        return Finding(check="neighbor", subject=wanted.neighbor, state="ok", found=found)
    found = ", ".join(known) or "not known to the box"
    return _line(
        "neighbor", wanted.neighbor, found, f"{wanted.neighbor_mac} at {wanted.port}", lacking
    )
