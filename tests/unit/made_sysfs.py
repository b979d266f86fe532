"""A made tree of /sys and /proc, and a kernel that answers what is written to it."""

import errno
import os
from pathlib import Path

from linerate.host.doctor import Host
from linerate.host.doctor.journal import refused
from linerate.host.doctor.nics import PCI

BUS = "/sys/bus/pci"
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"
NODE_PAGES = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB"


class MadeHost(Host):
    """A host in a folder that behaves as a live one."""

    live = True

    def __init__(self, root):
        super().__init__(root)
        self.boot_id = "first"
        #: Answers of commands, by their words.
        self.answers = {("ip", "-j", "address", "show"): "[]"}
        #: Devices that each driver takes without an override.
        self.ids = {}
        #: Hugepages that can be had, and that are in use.
        self.most_pages = 4096
        self.used_pages = 0
        for driver in ("igc", "ixgbe", "vfio-pci", "uio_pci_generic"):
            self._folder(f"{BUS}/drivers/{driver}")
            for file in ("bind", "unbind"):
                self._file(f"{BUS}/drivers/{driver}/{file}", "")
        self._file(f"{BUS}/drivers_probe", "")
        self._file("/proc/net/route", "Iface\tDestination\n")
        self._file("/proc/sys/kernel/osrelease", "6.1.0-31-amd64\n")
        self._file("/etc/os-release", "ID=debian\n")
        self._file(
            "/lib/modules/6.1.0-31-amd64/modules.dep",
            "kernel/drivers/vfio/pci/vfio-pci.ko: a\nkernel/drivers/uio/uio_pci_generic.ko.xz: b\n",
        )
        self._file("/proc/meminfo", "MemAvailable:    9000000 kB\n")
        self._file(f"{PAGES}/free_hugepages", "0\n")
        self._file(f"{PAGES}/nr_hugepages", "0\n")
        self.restart("first")

    def restart(self, boot_id):
        self._file("/proc/sys/kernel/random/boot_id", boot_id + "\n")

    def add(self, address, driver="igc", group=None, kind="0x020000", interface=""):
        """Plug in a device; its driver is the one that takes it by itself, too."""
        folder = f"{PCI}/{address}"
        self.ids[address] = driver
        for file, text in (
            ("class", kind),
            ("vendor", "0x8086"),
            ("device", "0x125c"),
            ("numa_node", "-1"),
            ("driver_override", "(null)"),
        ):
            self._file(f"{folder}/{file}", text + "\n")
        if driver:
            self._folder(f"{BUS}/drivers/{driver}")
            for file in ("bind", "unbind"):
                self._file(f"{BUS}/drivers/{driver}/{file}", "")
            self._attach(address, driver)
        if group is not None:
            self._folder(f"/sys/kernel/iommu_groups/{group}/devices")
            self._file(f"/sys/kernel/iommu_groups/{group}/devices/{address}", "")
            self._file(f"/sys/kernel/iommu_groups/{group}/type", "DMA\n")
            (self.at(folder) / "iommu_group").symlink_to(f"../../../../kernel/iommu_groups/{group}")
        if interface:
            self._folder(f"{folder}/net/{interface}")
            self._folder(f"/sys/class/net/{interface}")

    def put(self, path, value):
        """Write as the kernel takes it; raises RepairError as a failed write does."""
        try:
            self._put(path, value)
        except OSError as error:
            raise refused(self.at(path), error) from error

    def look(self):
        """All that repairs change."""
        state: dict[str, object] = {}
        for address in self.names(PCI):
            folder = f"{PCI}/{address}"
            state[address] = (
                self.target(f"{folder}/driver"),
                self.read(f"{folder}/driver_override"),
            )
        state["pages"] = self.read(f"{PAGES}/nr_hugepages")
        return state

    def _run(self, command):
        return self.answers.get(command)

    def later(self, seconds):
        return None

    def _put(self, path, value):
        at, name = path.rsplit("/", 1)
        if not self.at(path).exists():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if name == "driver_override":
            self._file(path, "(null)\n" if value == "\n" else value + "\n")
        elif name in ("drivers_probe", "bind", "unbind"):
            self._drive(name, at.rsplit("/", 1)[1], value)
        elif name == "nr_hugepages":
            now = max(self.used_pages, min(self.most_pages, int(value)))
            self._file(path, f"{now}\n")
            self._file(f"{at}/free_hugepages", f"{now - self.used_pages}\n")
        else:
            self._file(path, value)

    def _drive(self, file, driver, address):
        """Attach or detach, as the driver core does."""
        now, taker = self._driver(address), self._taker(address)
        if file == "drivers_probe":
            # It says nothing of a device that no driver takes.
            if now is None and taker:
                self._attach(address, taker)
        elif file == "unbind":
            if now != driver:
                raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
            self.at(f"{PCI}/{address}/driver").unlink()
        elif now is not None or taker != driver:
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        else:
            self._attach(address, driver)

    def _taker(self, address):
        """Driver to which the kernel would give a device."""
        override = self.read(f"{PCI}/{address}/driver_override")
        return self.ids[address] if override == "(null)" else override

    def _driver(self, address):
        return self.target(f"{PCI}/{address}/driver")

    def _attach(self, address, driver):
        link = self.at(f"{PCI}/{address}/driver")
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../../../bus/pci/drivers/{driver}")

    def _folder(self, path):
        self.at(path).mkdir(parents=True, exist_ok=True)

    def _file(self, path, text):
        file = Path(self.at(path))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
