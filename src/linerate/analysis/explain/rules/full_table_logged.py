"""A table of the kernel's was full, so that it dropped packets: its log does not say how many."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence

#: Commands that decide, by words of the table's name.
_DECIDES = (
    (
        "nf_conntrack",
        "`conntrack -S` twice under load: drop and insert_failed; `sysctl "
        "net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max`: how full it is",
    ),
    ("", "`ip -s neigh | wc -l` and `sysctl net.ipv4.neigh.default.gc_thresh3`: how full it is"),
)
_LONGER = "a longer table by the setting named above, or fewer entries: shorter timeouts, `notrack`"


@rule(
    "configuration",
    Stage.LAST,
    reference="Linux: nf_conntrack_core.c and neighbour.c log that a table has no room",
)
def full_table_logged(evidence: Evidence) -> Finding | None:
    """The log says that packets were dropped for a table as long as a setting allows."""
    found = [one for one in evidence.remarks if one.kind == "table-full"]
    if not found or evidence.conditions is not None:
        return None
    texts = "; ".join(dict.fromkeys(one.text for one in found))
    decides = next(command for word, command in _DECIDES if word in found[0].text)
    return Finding(
        limit="configuration",
        confidence="medium",
        sentence=f"{texts}; how many is open, as few of them are logged",
        evidence=tuple(one.quote for one in found),
        try_=(f"this says how many: {decides}", _LONGER),
        explains=0.5,
    )
