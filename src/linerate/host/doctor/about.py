"""A host in a few words: kernel, CPU, microcode, BIOS."""

from linerate.host.doctor.host_view import Host
from linerate.model.findings import About


def about(host: Host) -> About:
    """Whatever of it can be read."""
    of_cpu: dict[str, str] = {}
    for line in (host.read("/proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        of_cpu.setdefault(key.strip(), value.strip())
    bios = [host.read(f"/sys/class/dmi/id/bios_{part}") for part in ("vendor", "version", "date")]
    return About(
        kernel=host.read("/proc/sys/kernel/osrelease") or "",
        cpu=of_cpu.get("model name", ""),
        microcode=of_cpu.get("microcode", ""),
        bios=" ".join(part for part in bios if part),
    )


def about_text(found: About) -> str:
    """The same in a line."""
    parts = {
        "Linux": found.kernel,
        "": found.cpu,
        "microcode": found.microcode,
        "BIOS": found.bios,
    }
    return ", ".join(f"{name} {value}".strip() for name, value in parts.items() if value)
