"""Flags of `t-rex-64`, as programs write them that start TRex."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CONFIG = Path("/etc/trex_cfg.yaml")
#: TRex listens everywhere; `--listen`, which is ours, does that too.
HOST = "127.0.0.1"
OWN_FLAGS = ("--cfg", "--listen")

#: Flags that change nothing: histograms are always there, the engine has its own cores, there is
#: no scapy server, no OFED to be checked, and signatures need no hardware.
IGNORED = frozenset(
    (
        "-i", "--stl", "--no-scapy-server", "--no-ofed-check", "--hdrh", "--no-hw-flow-stat",
        "--checksum-offload", "--checksum-offload-disable", "--software", "--no-watchdog",
        "--no-termio", "--no-key", "--dump-interfaces-quiet",
    )
)  # fmt: skip
IGNORED_WITH_VALUE = frozenset(
    ("-c", "--iom", "--prefix", "-v", "-m", "--mbuf-factor", "--limit-ports", "--ws")
)
#: Modes that are not served.
REFUSED = {
    "--astf": "stateful mode is not served",
    "--astf-server-only": "stateful mode is not served",
    "-f": "expected -i: profiles are sent by clients",
    "--emu": "the emulation server is not there",
    "--bird-server": "the BIRD server is not there",
}


class FlagError(Exception):
    """A flag that can't be had, in one line."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Those that mean something."""

    config: Path = CONFIG
    host: str = HOST


def parsed(words: Sequence[str]) -> Flags:
    """Flags of a command line; raises FlagError."""
    given: dict[str, str] = {}
    left = list(words)
    is_server = False
    while left:
        name, equals, value = left.pop(0).partition("=")
        if name in REFUSED:
            raise FlagError(f"{name}: {REFUSED[name]}")
        if name in IGNORED:
            is_server = is_server or name == "-i"
            continue
        if name not in OWN_FLAGS and name not in IGNORED_WITH_VALUE:
            raise FlagError(f"{name[:60]}: not known here")
        if not equals:
            if not left:
                raise FlagError(f"{name}: expected a value")
            value = left.pop(0)
        given[name] = value
    if not is_server:
        raise FlagError("expected -i: clients say what is sent")
    return Flags(Path(given.get("--cfg", CONFIG)), given.get("--listen", HOST))
