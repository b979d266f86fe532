"""Why a DPDK process did not start, from its log: the line that tells the cause, not the last one.

What EAL and drivers print last is mostly what they tidied up, or that something above failed.
"""

import re

#: Printed by healthy processes as well.
_NOISE = re.compile(
    r"EAL: (?:Detected |Selected IOVA|Multi-process socket|VFIO support initialized|Using IOMMU"
    r"|Probe PCI driver|\s*probe driver|Ignore mapping|No available \d+ kB|No free \d+ kB"
    r"|Physical addresses are unavailable|Static memory layout|WARNING|TSC is not safe"
    r"|VFIO modules not loaded|PCI device \S+ on NUMA|lib\.\S+ log level)"
    r"|^TELEMETRY: |Failed to register mp action callback|^Warning: |^testpmd: |^Interactive-mode"
)
#: Messages that follow from a cause, or from cleaning up after it.
_CONSEQUENCE = re.compile(
    r"Error (?:disabling|enabling) MSI|Driver cannot attach the device|Failed to attach device"
    r"|failed to initialize \S+ device|Bus \(\w+\) probe failed|Failed to create pmd"
    r"|Unregistering with invalid|Unable to parse device|Requested device \S+ cannot be used"
    r"|Cannot probe|Cannot init memory|Error - exiting with code|rte_eal_init|^Port \d+ is closed"
    r"|Fail(?:ed)? to start port|Releasing|releasing|already (?:freed|released)|close_port"
)
_SAYS_WHY = re.compile(
    r"fail|error|cannot|can'?t |could ?n[o']t|couldn|unknown|invalid|unable|\bnot\b|\bno such\b"
    r"|refused|denied|no free|unsupported|out of|exceed|too |Cause:",
    re.IGNORECASE,
)
#: Prefixes of our engine's own messages: the port or part.
_OURS = re.compile(r"(?:port|card|worker) \S+: |DPDK does not start: |control socket ")
#: Remedies, by the text of the cause.
_REMEDIES = tuple(
    (re.compile(cause), remedy)
    for cause, remedy in (
        (
            r"VFIO group is not viable",
            "bind all devices of its IOMMU group to vfio-pci, or to no driver",
        ),
        (
            r"not managed by UIO|not managed by VFIO",
            "`linerate doctor TESTBED --fix` gives it to vfio-pci",
        ),
        (
            r"[Cc]annot open VFIO container|/dev/vfio",
            "run it as root, or give yourself /dev/vfio/GROUP",
        ),
        (
            r"memif_connect_client\(\): Failed to connect socket",
            "no server listens there: start the memif server first",
        ),
        (r"Cannot get hugepage|[Nn]ot enough (?:memory|hugepages)", "`linerate doctor` says how"),
        (r"SIOCGIFINDEX", "there is no such interface in this network namespace"),
    )
)
NOTHING = "no output"


def cause(log: str) -> str:
    """Reason of a failed process, in one line: its own message first, then DPDK's reason."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if not lines:
        return NOTHING
    ours = next((line for line in reversed(lines) if _OURS.match(line)), "")
    own = [line for line in lines if not _OURS.match(line) and not _NOISE.search(line)]
    causes = [line for line in own if not _CONSEQUENCE.search(line)]
    why = next((line for line in causes if _SAYS_WHY.search(line)), "")
    if not why and not ours:
        why = (causes or own or lines)[-1]
    message = f"{ours} ({_tidy(why)})" if ours and why else ours or _tidy(why)
    remedy = next((text for pattern, text in _REMEDIES if pattern.search(why)), "")
    return f"{message}: {remedy}" if remedy else message


def _tidy(line: str) -> str:
    """A line without what only looks like words of the log's own."""
    return re.sub(r"\s+", " ", line).rstrip(".")
