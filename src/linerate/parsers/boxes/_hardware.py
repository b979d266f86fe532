"""Limits of a box's hardware in its answers: PCIe links, frequency, throttling."""

import re
from collections.abc import Iterator, Mapping, Sequence

from linerate.model.evidence import PcieLink
from linerate.parsers.boxes import Question
from linerate.parsers.text import text_of
from linerate.parsers.tools.pcie_kernel import pcie_kernel
from linerate.parsers.tools.pcie_lspci import pcie_lspci

#: A CPU that is so much slower at the end of the window than at its begin was slowed down.
SLOWED = 0.9
_FREQUENCY = re.compile(r".*/cpu(\d{1,5})/cpufreq/scaling_cur_freq:(\d{1,9})")
_THROTTLED = re.compile(r".*/cpu(\d{1,5})/thermal_throttle/\w+_throttle_count:(\d{1,12})")
_CPUS = "/sys/devices/system/cpu/cpu[0-9]*"

#: Asked once: the kernel's words about links and heat, and each network card's slot.
FACTS = (
    Question(
        "dmesg",
        "dmesg | grep -iE 'pcie bandwidth|pci express|gt/s|nic link is|link is up|throttl"
        "|temperature' | tail -n 200",
    ),
    Question(
        "lspci",
        "lspci -Dvv -d ::0200 2>/dev/null || lspci -Dvv",
    ),
)
#: Asked twice within the load.
AT_LOAD = (
    Question(
        "frequency",
        f"grep -s . {_CPUS}/cpufreq/scaling_cur_freq "
        f"{_CPUS}/thermal_throttle/core_throttle_count "
        f"{_CPUS}/thermal_throttle/package_throttle_count; true",
    ),
)


def pcie_links(texts: Mapping[str, str], devices: Sequence[str]) -> tuple[PcieLink, ...]:
    """Links of the ports' cards; of all network cards where no port's is known."""
    found: dict[str, PcieLink] = {}
    for name, read in (("lspci", pcie_lspci), ("dmesg", pcie_kernel)):
        part = read(text_of(texts.get(name, ""), name))
        for link in part.pcie if part is not None else ():
            found[link.device] = _joined(found.get(link.device), link)
    if not devices:
        # The card of the ports is unknown: that another one is narrow limits nothing.
        return ()
    return tuple(link for device, link in found.items() if device in devices)


def _joined(one: PcieLink | None, other: PcieLink) -> PcieLink:
    """Put together two sources' words of one card; the first one's count."""
    if one is None:
        return other
    missing = {
        name: getattr(other, name)
        for name in PcieLink.model_fields
        if not getattr(one, name) and getattr(other, name)
    }
    return one.model_copy(update=missing | {"quotes": (*one.quotes, *other.quotes)})


def slowed(first: Mapping[str, str], last: Mapping[str, str], cpus: Sequence[int]) -> Iterator[str]:
    """CPUs that lost frequency or throttled in the window; all where `cpus` is empty."""
    before, after = (text.get("frequency", "") for text in (first, last))
    for cpu, now in _by_cpu(_FREQUENCY, after).items():
        was = _by_cpu(_FREQUENCY, before).get(cpu, 0)
        if now < SLOWED * was and (not cpus or cpu in cpus):
            yield (
                f"CPU {cpu} of the box went from {was / 1e3:,.0f} to {now / 1e3:,.0f} MHz within "
                "the load: it throttles, or its governor is not performance"
            )
    for cpu, times in _by_cpu(_THROTTLED, after).items():
        more = times - _by_cpu(_THROTTLED, before).get(cpu, times)
        if more > 0 and (not cpus or cpu in cpus):
            yield f"CPU {cpu} of the box throttled {more:,} times within the load: it is too hot"


def _by_cpu(pattern: re.Pattern[str], text: str) -> dict[int, int]:
    """Sums by CPU of a file of sysfs each."""
    found: dict[int, int] = {}
    for line in text.splitlines():
        if match := pattern.fullmatch(line.strip()):
            found[int(match[1])] = found.get(int(match[1]), 0) + int(match[2])
    return found
