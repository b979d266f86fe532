"""Environment of a run: the machine that it was measured on."""

from linerate.base.frozen_model import FrozenModel


class Environment(FrozenModel):
    """The machine that a run was measured on."""

    cpu_model: str
    microcode: str
    hypervisor: bool
    kernel: str
    system: str
    cpus: tuple[int, ...]
    governor: str
    transparent_hugepages: str
    hugepages_free: int
    linerate: str
    #: Name of the machine; unknown of older runs.
    hostname: str = ""
    #: Commit of the source tree that ran; unknown of an installed one.
    commit: str = ""
    dpdk: str = ""
    memory: str = ""
    layout: str = ""
    #: Negotiated links of real ports.
    links: str = ""
    #: Vendor, version and date of the firmware, as its tables name them; unknown of older runs.
    bios: str = ""
    #: Model and firmware of the NICs that a testbed's ports are; empty where it has none.
    nic: str = ""
    nic_firmware: str = ""
    #: The run's session, where others have less of a CPU than it; None: they have as much.
    autogroup_nice: int | None = None
