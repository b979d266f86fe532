"""The loss ledger of a test as a Sankey diagram: from `sent` to `received` and to each loss."""

from dataclasses import dataclass

from linerate.model.ledger import PacketLedger
from linerate.report.document import Figure, Table, table
from linerate.report.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILLION,
    Plot,
    layout,
    percent,
    plain,
)
from linerate.results.store import Result

#: Thinner streams are drawn so wide, that one sees them; their figures stay what they are.
VISIBLE_SHARE = 0.02
HUB = "all packets"
ADDED = "added by the device"
COLOURS = {
    "sent": BLUE,
    "originated": BLUE,
    ADDED: BLUE,
    HUB: GREY,
    "received": GREEN,
    "unexplained": VERMILLION,
}


@dataclass(frozen=True, slots=True)
class Flow:
    """Packets from one place to another."""

    source: str
    target: str
    packets: int


def flows(ledger: PacketLedger) -> list[Flow]:
    """Each place's packets; what goes in equals what comes out (the ledger's law)."""
    # Packets held before the trial and released in it count negative, and so do those without a
    # source.
    places = {
        "received": ledger.received,
        "duplicated": ledger.duplicated,
        "corrupted": ledger.corrupted,
        "other frames": ledger.other,
        "for the device itself": ledger.consumed,
        "still held": ledger.held,
        **{_marked(place): packets for place, packets in ledger.losses.items()},
        "unexplained": ledger.unexplained,
    }
    into = {"sent": ledger.sent, "originated": ledger.originated, ADDED: ledger.added}
    into |= {f"{place}, before": -packets for place, packets in places.items() if packets < 0}
    sources = {place: packets for place, packets in into.items() if packets}
    targets = {place: packets for place, packets in places.items() if packets > 0}
    if len(sources) == 1:
        source = next(iter(sources))
        return [Flow(source, target, packets) for target, packets in targets.items()]
    return [
        *(Flow(source, HUB, packets) for source, packets in sources.items()),
        *(Flow(HUB, target, packets) for target, packets in targets.items()),
    ]


def _marked(place: str) -> str:
    """Mark a place of loss, whatever its name, as different from the ledger's own words."""
    own = ("sent", "originated", "received", "duplicated", "corrupted", "unexplained", HUB, ADDED)
    return f"lost: {place}" if place in own else place


def picture(result: Result) -> Figure:
    """The diagram of one test, with each figure in a table beneath."""
    ledger = result.packets
    found = flows(ledger)
    return Figure(
        name=f"ledger-{result.test}",
        title="Where the packets went",
        alt=_in_words(ledger),
        plot=_figure(found, ledger, result.valid) if found else None,
        note=_note(found, ledger),
        table=_table(result),
    )


def _whole(ledger: PacketLedger) -> int:
    return ledger.sent + ledger.originated + ledger.added


def _in_words(ledger: PacketLedger) -> str:
    whole = _whole(ledger)
    parts = [f"received {ledger.received:,} ({percent(ledger.received, whole)})"]
    parts += [
        f"lost {packets:,} ({percent(packets, whole)}) at {place}"
        for place, packets in ledger.losses.items()
    ]
    if ledger.unexplained:
        parts.append(f"unexplained {ledger.unexplained:,}")
    return f"Of {whole:,} packets: " + "; ".join(parts) + "."


def _note(found: list[Flow], ledger: PacketLedger) -> str:
    if not found:
        return "No packet was sent."
    least = VISIBLE_SHARE * _whole(ledger)
    if any(flow.packets < least for flow in found):
        return (
            f"Streams of less than {100 * VISIBLE_SHARE:.0f} % are drawn that wide, "
            "so that they can be seen; the figures are exact."
        )
    return ""


def _figure(found: list[Flow], ledger: PacketLedger, valid: bool) -> Plot:
    names = list(dict.fromkeys(name for flow in found for name in (flow.source, flow.target)))
    through = {
        name: max(
            sum(flow.packets for flow in found if flow.source == name),
            sum(flow.packets for flow in found if flow.target == name),
        )
        for name in names
    }
    whole = _whole(ledger) or max(through.values())
    labels = [
        f"{plain(name)}<br>{through[name]:,} ({percent(through[name], whole)})" for name in names
    ]
    colours = [COLOURS.get(name, ORANGE) for name in names]
    drawn = [max(flow.packets, VISIBLE_SHARE * whole) for flow in found]
    figure_layout = layout(
        max(220, 90 + 52 * len({flow.target for flow in found})),
        margin={"l": 8, "r": 8, "t": 12, "b": 28},
    )
    if not valid:
        figure_layout["annotations"] = [_invalid()]
    return {
        "data": [
            {
                "type": "sankey",
                "arrangement": "fixed",
                "node": {
                    "label": labels,
                    "color": colours,
                    "pad": 34,
                    "thickness": 16,
                    "line": {"width": 0},
                    "hovertemplate": "%{label}<extra></extra>",
                },
                "link": {
                    "source": [names.index(flow.source) for flow in found],
                    "target": [names.index(flow.target) for flow in found],
                    "value": drawn,
                    "color": [_pale(COLOURS.get(flow.target, ORANGE)) for flow in found],
                    "customdata": [_hover(flow, whole) for flow in found],
                    "hovertemplate": "%{customdata}<extra></extra>",
                },
            }
        ],
        "layout": figure_layout,
    }


def _invalid() -> Plot:
    return {
        "text": "INVALID: no result",
        "xref": "paper",
        "yref": "paper",
        "x": 0.4,
        "y": 0.5,
        "showarrow": False,
        "font": {"size": 28},
        "opacity": 0.6,
    }


def _hover(flow: Flow, whole: int) -> str:
    share = percent(flow.packets, whole)
    return f"{plain(flow.source)} → {plain(flow.target)}<br>{flow.packets:,} packets, {share}"


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    alpha = {GREEN: 0.45, VERMILLION: 1.0}.get(colour, 0.7)
    return f"rgba({red},{green},{blue},{alpha})"


def _table(result: Result) -> Table:
    ledger = result.packets
    whole = _whole(ledger)
    rows: list[tuple[str, ...]] = [
        (entry.place, entry.kind, f"{entry.packets:,}", percent(entry.packets, whole))
        for entry in ledger.entries
        if entry.packets
    ]
    left = ledger.unexplained
    rows.append(("unexplained", "", f"{left:,}", percent(left, whole)))
    mark = "" if result.valid else ", invalid: evidence, no result"
    return table(
        title=f"{result.test}: packet ledger{mark}",
        columns=("place", "kind", "packets", "of all"),
        rows=tuple(rows),
        words=frozenset({0, 1}),
    )
