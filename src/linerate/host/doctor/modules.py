"""Kernel modules: whether one is there, and which package has it."""

from linerate.host.doctor.host_view import Host

#: Last part of a release of Debian's kernels.
_DEBIAN_ARCHITECTURES = ("amd64", "arm64", "armmp", "powerpc64le", "riscv64", "s390x")
_DRIVERS = "/sys/bus/pci/drivers"


def release(host: Host) -> str:
    """The kernel's release: `6.1.0-31-amd64`."""
    return host.read("/proc/sys/kernel/osrelease") or ""


def available(host: Host, module: str) -> bool | None:
    """Whether a PCI driver's module is loaded, built in or installed; None when nothing says."""
    if host.at(f"{_DRIVERS}/{module}").is_dir():
        return True
    folder = f"/lib/modules/{release(host)}"
    listed = [host.read(f"{folder}/{name}") for name in ("modules.builtin", "modules.dep")]
    lines = [line for text in listed if text is not None for line in text.splitlines()]
    if not lines:
        return None
    # `kernel/drivers/uio/uio_pci_generic.ko.xz: kernel/drivers/uio/uio.ko.xz`
    files = {line.partition(":")[0].rpartition("/")[2].partition(".ko")[0] for line in lines}
    return module.replace("-", "_") in {name.replace("-", "_") for name in files}


def package(host: Host) -> str:
    """Package that provides it: the end of a line."""
    words = (line.partition("=") for line in (host.read("/etc/os-release") or "").splitlines())
    ids = {key: value.strip('"') for key, _, value in words}
    if ids.get("ID") == "ubuntu":
        return f"install linux-modules-extra-{release(host)}"
    arch = release(host).rpartition("-")[2]
    if ids.get("ID") == "debian" and arch in _DEBIAN_ARCHITECTURES:
        # Debian's cloud kernels leave uio and vfio out.
        return f"install linux-image-{arch} and restart into it"
    return "install the package of the kernel's extra modules"
