"""Names that Open vSwitch gives lost packets, and the lines that its programs print them in.

Asked of a box at work (parsers/boxes/ovs.py) or pasted (parsers/tools/ovs_*.py): the same names.
"""

import re

from linerate.model.evidence import Cause
from linerate.model.loss_causes import cause_of

#: Statistics of a port that are packets lost in it after they were received, or before they left.
LOSSES = {
    "ovs_rx_qos_drops": "ingress policer drops",
    "ovs_tx_qos_drops": "egress policer drops",
    "ovs_tx_failure_drops": "tx ring full",
    "ovs_tx_mtu_exceeded_drops": "longer than the MTU",
    "ovs_tx_invalid_hwol_drops": "tx offload unsupported",
}
#: Packets whose flow had no action: of a flow of OpenFlow's that drops, or of none.
PIPELINE = "drop_action_of_pipeline"
#: Coverage counters that are packets (lib/dpif-netdev.c, lib/odp-execute.c), in words.
_DATAPATH = {
    "datapath_drop_upcall_error": "upcall lost",
    "datapath_drop_lock_error": "upcall lost: flow table locked",
    "datapath_drop_rx_invalid_packet": "malformed packet",
    "datapath_drop_meter": "meter drops",
    "datapath_drop_invalid_port": "no such port",
    "datapath_drop_invalid_bond": "no such port: bond",
    "datapath_drop_recirc_error": "recirculated too often",
}
COVERAGE = re.compile(r"(datapath_drop_\w+|drop_action_\w+)\s.*\btotal:\s*(\d{1,20})\s*")
#: A thread of the datapath in user space, before its counters.
THREAD = re.compile(r"\s*(pmd|main) thread(?: numa_id (\d{1,5}) core_id (\d{1,5}))?:\s*")
#: A counter of a thread: `emc hits:17461158`, `- Upcalls:  0  (  0.0 %, 0.0 us/upcall)`.
VALUE = re.compile(
    r"\s*(?:-\s*)?(?P<name>[A-Za-z][\w .()/-]{0,60}?):\s*(?P<value>\d{1,20})(?![\d.])(?P<rest>.*)"
)


def datapath_place(counter: str) -> str:
    """The place that a coverage counter stands for."""
    words = counter.removeprefix("datapath_").replace("_", " ")
    return f"datapath: {_DATAPATH.get(counter, words)}"


def port_place(port: str, counter: str) -> str:
    """The place that one of `LOSSES` stands for."""
    return f"{port}: {LOSSES[counter]}"


def cause_at_port(counter: str) -> Cause:
    """The cause of one of `LOSSES`."""
    return cause_of(LOSSES[counter])
