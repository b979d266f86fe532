"""Whether the host is a virtual machine."""

from linerate.host.doctor.host_view import Host


def cpu_flags(host: Host) -> frozenset[str]:
    """Flags of the first CPU."""
    for line in (host.read("/proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


def hypervisor(host: Host) -> bool:
    """Whether the CPU says that there is a hypervisor."""
    return "hypervisor" in cpu_flags(host)
