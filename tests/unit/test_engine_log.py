"""The line of a log with the cause: as DPDK 22.11 and newer print them."""

import pytest

from linerate.host.dpdk_log import cause

BANNER = """EAL: Detected CPU lcores: 2
EAL: Detected NUMA nodes: 1
EAL: Detected shared linkage of DPDK
EAL: Selected IOVA mode 'VA'
EAL: Probe PCI driver: net_i40e (8086:1572) device: 0000:44:00.3 (socket 0)
TELEMETRY: No legacy callbacks, legacy socket not created
rte_pmd_memif_probe(): Failed to register mp action callback: Operation not supported
"""

#: Log, and the reported cause.
LOGS = {
    "nothing": ("", "no output"),
    "a card that is not there": (
        'port e0: DPDK has no device "0000:01:00.0"',
        'port e0: DPDK has no device "0000:01:00.0"',
    ),
    "an interface that is not there": (
        """rte_pmd_init_internals(): net_af_packet0: ioctl failed (SIOCGIFINDEX):No such device
EAL: Driver cannot attach the device (net_af_packet0)
EAL: Failed to attach device on primary process
port e0: DPDK cannot make net_af_packet0 (iface=nope0): Operation not permitted""",
        "port e0: DPDK cannot make net_af_packet0 (iface=nope0): Operation not permitted "
        "(rte_pmd_init_internals(): net_af_packet0: ioctl failed (SIOCGIFINDEX):No such device): "
        "there is no such interface in this network namespace",
    ),
    "a driver that is not there": (
        """EAL: failed to parse device "net_nonsense0"
EAL: Unable to parse device 'net_nonsense0'
DPDK does not start: No such device
EAL: Unregistering with invalid input parameter""",
        'DPDK does not start: No such device (EAL: failed to parse device "net_nonsense0")',
    ),
    "a memif without its server": (
        """memif_connect_client(): Failed to connect socket: /tmp/none.sock.
port e0: cannot be started: Operation not permitted""",
        "port e0: cannot be started: Operation not permitted (memif_connect_client(): Failed to "
        "connect socket: /tmp/none.sock): no server listens there: start the memif server first",
    ),
    "a memif in no folder": (
        """memif_check_socket_filename(): Invalid socket directory.
vdev_probe(): failed to initialize net_memif0 device
EAL: Bus (vdev) probe failed.
port e0: DPDK has no device "net_memif0\"""",
        'port e0: DPDK has no device "net_memif0" (memif_check_socket_filename(): Invalid socket '
        "directory)",
    ),
    "a memif with a wrong role": (
        """memif_set_role(): Unknown role: clown.
vdev_probe(): failed to initialize net_memif0 device
EAL: Bus (vdev) probe failed.
port e0: DPDK has no device "net_memif0\"""",
        'port e0: DPDK has no device "net_memif0" (memif_set_role(): Unknown role: clown)',
    ),
    "a capture that is not there": (
        """open_single_rx_pcap(): Couldn't open /n.pcap: /n.pcap: No such file or directory
vdev_probe(): failed to initialize net_pcap0 device
EAL: Bus (vdev) probe failed.
port e0: DPDK has no device "net_pcap0\"""",
        'port e0: DPDK has no device "net_pcap0" (open_single_rx_pcap(): Couldn\'t open /n.pcap: '
        "/n.pcap: No such file or directory)",
    ),
    "a tap with a long name": (
        """set_interface_name(): TAP invalid remote interface name (thisnameistoolongfortap)
rte_pmd_tap_probe(): Failed to create pmd for net_tap0 as dtap%d
vdev_probe(): failed to initialize net_tap0 device
EAL: Bus (vdev) probe failed.
port e0: DPDK has no device "net_tap0\"""",
        'port e0: DPDK has no device "net_tap0" (set_interface_name(): TAP invalid remote '
        "interface name (thisnameistoolongfortap))",
    ),
    "a card whose group is not VFIO's": (
        """EAL: 0000:44:00.3 VFIO group is not viable! Not all devices in IOMMU group bound to VFIO
EAL: Driver cannot attach the device (0000:44:00.3)
EAL: Failed to attach device on primary process
EAL: Error disabling MSI-X interrupts for fd 45""",
        "EAL: 0000:44:00.3 VFIO group is not viable! Not all devices in IOMMU group bound to VFIO: "
        "bind all devices of its IOMMU group to vfio-pci, or to no driver",
    ),
    "testpmd without a core": (
        """EAL: Error - exiting with code: 1
  Cause: No cores defined for forwarding
Check the core mask argument
Port 0 is closed
Port 1 is closed""",
        "Cause: No cores defined for forwarding",
    ),
    "words without a reason": ("hello\nthere\nEAL: Error disabling MSI-X interrupts", "there"),
}


@pytest.mark.parametrize("banner", ["", BANNER], ids=["quiet", "banner"])
@pytest.mark.parametrize("name", LOGS)
def test_the_cause_is_reported_not_what_came_of_it(name, banner):
    log, text = LOGS[name]
    assert cause(banner + log if log else "") == text


def test_a_log_of_noise_alone_ends_with_its_last_line():
    assert cause(BANNER) == BANNER.strip().splitlines()[-1]
