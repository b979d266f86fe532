"""Evidence: normalised counters of tester, wire, card, device under test and host."""

from linerate.evidence.model import (
    FULL_SHARE,
    FULL_VECTOR,
    Cause,
    Conditions,
    CpuCounters,
    Evidence,
    FlowOffload,
    Loss,
    Node,
    PcieLink,
    Port,
    Quote,
    Ring,
    Sibling,
    Tester,
    Worker,
)

__all__ = [
    "FULL_SHARE",
    "FULL_VECTOR",
    "Cause",
    "Conditions",
    "CpuCounters",
    "Evidence",
    "FlowOffload",
    "Loss",
    "Node",
    "PcieLink",
    "Port",
    "Quote",
    "Ring",
    "Sibling",
    "Tester",
    "Worker",
]
