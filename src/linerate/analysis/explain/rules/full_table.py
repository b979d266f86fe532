"""A table of connections has no room for a new one: its size is a setting."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    main_losses,
    more_than_noise,
    offered_packets,
    quotes,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence

TRY = (
    "a larger table: `sysctl net.netfilter.nf_conntrack_max`, VPP's `acl-plugin { … }` or `nat44`",
    "shorter timeouts, or no state for packets that need none (nftables: `notrack`)",
)
#: Packets that are worth a word where it is unknown how many came.
MANY = 1000
#: Places named in the sentence.
NAMED = 3


@rule(
    "configuration",
    Stage.RESOURCE,
    reference="Linux: Documentation/networking/nf_conntrack-sysctl.rst, nf_conntrack_max",
)
def full_table(evidence: Evidence) -> Finding | None:
    """Most of what was lost for a lack of room was a new connection's."""
    lost = main_losses(evidence, "flow-table")
    known = offered_packets(evidence) is not None
    if not lost or (known and not more_than_noise(evidence, total(lost))):
        return None
    if not known and total(lost) < MANY:
        return None
    places = ", ".join(f"{one.packets:,} at {one.place}" for one in lost[:NAMED])
    return Finding(
        limit="configuration",
        confidence="high" if known else "medium",
        sentence=f"a table of connections was full: {places}",
        evidence=quotes(*lost),
        try_=TRY,
        explains=share_of_losses(evidence, lost),
    )
