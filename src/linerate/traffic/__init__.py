"""Traffic profiles: a name, a size, a file of ours or of others, read into one `Profile`.

`SOURCES` are asked in turn; the first that recognises a text reads it.
"""

from linerate.model.counting import generates
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.traffic.capture.capture_profile import Capture
from linerate.traffic.connections import connections_loadtest
from linerate.traffic.genome import Genome
from linerate.traffic.link_mtu import check_carried
from linerate.traffic.mixes import Mixes, Sizes
from linerate.traffic.native_profile import Ours
from linerate.traffic.offered import loadtest_of
from linerate.traffic.profile import Profile, Source, Stream, TrafficError
from linerate.traffic.rate import Rate, parse_rate
from linerate.traffic.trex.stateful import TrexStateful
from linerate.traffic.trex.stateless import TrexStateless

__all__ = [
    "SOURCES",
    "Profile",
    "Rate",
    "Source",
    "Stream",
    "TrafficError",
    "complete",
    "find",
    "loadtest_of",
    "offered_by",
    "parse_rate",
]

#: Kinds of profiles, in the order in which they are asked.
SOURCES: tuple[Source, ...] = (
    Mixes(),
    Sizes(),
    Genome(),
    Capture(),
    TrexStateful(),
    TrexStateless(),
    Ours(),
)


def find(text: str) -> Profile:
    """Read the profile that a text names; raises TrafficError with one line."""
    for source in SOURCES:
        if source.recognises(text):
            return source.read(text)
    raise TrafficError(
        f"traffic '{text}': expected a name ({', '.join(complete('imix'))}), a size, or a file"
    )


def offered_by(
    text: str, testbed: Testbed, rate: str | None = None, directions: int | None = None
) -> Loadtest:
    """The loadtest that `--traffic`, `--rate` and `--directions` ask for; raises TrafficError."""
    if testbed.by_tool or not generates(testbed):
        raise TrafficError(f"traffic: {testbed.dut.name}: needs our tester, expected another")
    profile = find(text)
    check_carried(profile, testbed)
    make = loadtest_of if profile.connections is None else connections_loadtest
    return make(profile, parse_rate(rate or "100%"), directions, testbed.line_bps)


def complete(typed: str) -> list[str]:
    """Names that a shell may complete to."""
    return [word for source in SOURCES for word in source.words(typed)]
