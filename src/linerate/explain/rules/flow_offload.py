"""The card's flow table is full, or takes rules too slowly."""

from linerate.evidence import Evidence, FlowOffload
from linerate.explain.model import Finding
from linerate.explain.rules import Stage, rule

#: So many of the rules that were asked for were refused.
REFUSED_SHARE = 0.01


@rule(
    "flow-offload",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="published flow-table measurements on an X710: 11 ms a rule as shipped",
)
def flow_offload(evidence: Evidence) -> Finding | None:
    """Flows stay in software because the card can't take them."""
    for table in evidence.offload:
        said = _trouble(table)
        if said:
            return Finding(
                limit="flow-offload",
                confidence="medium",
                sentence=f"flows stay in software: {said}",
                evidence=(table.quote,),
                try_=("offload fewer flows: those with the most packets", "newer firmware"),
            )
    return None


def _trouble(table: FlowOffload) -> str:
    if table.capacity and table.entries >= table.capacity:
        return f"the card's flow table is full ({table.entries:,} of {table.capacity:,} entries)"
    if table.refused > REFUSED_SHARE * (table.entries + table.refused):
        return f"the card refused {table.refused:,} rules"
    return ""
