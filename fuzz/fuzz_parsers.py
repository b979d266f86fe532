"""Fuzz the parsers of other tools' output: any bytes, all of them at once.

No text may raise; every quote must stand in the text; no count may be negative.
"""

import sys
from collections.abc import Iterator

import atheris
from pydantic import BaseModel

with atheris.instrument_imports(include=["linerate.model.evidence"]):
    from linerate.model.evidence import Evidence, Loss, Node, Port, Quote, Ring
    from linerate.parsers.files import evidence_of_text
    from linerate.parsers.text import TextError, decode, text_of
    from linerate.parsers.tools import parsers

    # They are imported at the first call.
    parsers()


def parts(thing: object) -> Iterator[BaseModel]:
    """Walk over all models within one."""
    if isinstance(thing, BaseModel):
        yield thing
        for name in type(thing).model_fields:
            yield from parts(getattr(thing, name))
    elif isinstance(thing, tuple):
        for one in thing:
            yield from parts(one)


def check(evidence: Evidence, lines: int) -> None:
    """Raise AssertionError for what no source can say."""
    for part in parts(evidence):
        match part:
            case Quote():
                assert 1 <= part.line <= lines, part
            case Loss():
                assert part.packets >= 0, part
                assert part.place, part
            case Node():
                assert min(part.calls, part.vectors, part.suspends) >= 0, part
                assert (part.clocks_per_packet or 0.0) >= 0, part
            case Ring():
                assert min(part.enqueued, part.dropped) >= 0, part
            case Port():
                known = (part.rx_packets, part.tx_packets, part.rx_bytes, part.tx_bytes)
                assert all(value is None or value >= 0 for value in known), part


def one_input(content: bytes) -> None:
    """Read one file's content, as `linerate explain FILE` does."""
    try:
        text = text_of(decode(content, "fuzzed"), "fuzzed")
    except TextError:
        return
    evidence = evidence_of_text(text)
    if evidence is not None:
        check(evidence, len(text.lines))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
