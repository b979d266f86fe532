"""Packets between TRex's ports, in whatever form its statistics are pasted."""

from collections.abc import Iterator, Sequence

from linerate.model.evidence import Evidence, Loss, Port, Quote, Tester


def between(tester: Tester, ports: Sequence[Port], doubts: Sequence[Quote] = ()) -> Evidence:
    """Tester and ports, with the packets that were not received."""
    sent, received = tester.sent_packets or 0, tester.received_packets
    if sent and received == 0:
        # A port without a way back and a device that drops everything look the same from here.
        why = f"TRex received none of its {sent} packets: how many were lost is not known"
        doubt = tester.quote.model_copy(update={"text": why})
        return Evidence(testers=(tester,), ports=tuple(ports), doubts=(*doubts, doubt))
    return Evidence(
        testers=(tester,),
        ports=tuple(ports),
        losses=() if received is None else tuple(_losses(tester, ports, sent - received)),
        doubts=tuple(doubts),
    )


def _losses(tester: Tester, ports: Sequence[Port], lost: int) -> Iterator[Loss]:
    # Frames that reached TRex's card and not TRex are its own loss.
    for port in ports:
        own = min(port.counters.get("ierrors", 0), max(lost, 0))
        if own:
            yield Loss(
                place=f"TRex port {port.name}: ierrors",
                cause="tester",
                packets=own,
                quote=port.quote,
            )
            lost -= own
    if lost > 0:
        yield Loss(place="between TRex's ports", cause="other", packets=lost, quote=tester.quote)
