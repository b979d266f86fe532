"""Tests that need modules of a distribution's kernel: VLANs, MPLS, flow tables, XDP, bridges."""

import json
import time
from typing import Any

import pytest
from tests.nics.guest import Guest

#: Nominal link rate: some 1,488 frames a second of 64 bytes.
LINK = "1M"
SECONDS = 300.0


def bench(guest: Guest, words: str) -> dict[str, Any]:
    """The last result of each loadtest, with its ledger."""
    runs = f"/tmp/runs-{time.monotonic_ns()}"
    command = f"linerate bench {words} --link {LINK} --duration 1s --accept-suspect --runs {runs}"
    done = guest.run(command, SECONDS, check=False)
    made = guest.run(f"ls -d {runs}/*/", check=False).out.strip()
    assert made, done
    run = json.loads(guest.read(f"{made}run.json"))
    assert run["status"] == "complete", run["problem"]
    results = {}
    for result in run["results"]:
        evidence = json.loads(guest.read(f"{made}evidence/{result['trial']}.json"))
        results[result["test"]] = result | {"packets": packets(evidence)}
    return results


def packets(evidence: dict[str, Any]) -> dict[str, int]:
    kinds: dict[str, int] = {}
    for entry in evidence["packets"]["entries"]:
        kinds[entry["kind"]] = kinds.get(entry["kind"], 0) + entry["packets"]
    return kinds


def all_came_back(result: dict[str, Any]) -> None:
    assert result["valid"], result["invalid"]
    assert result["packets"]["sent"] == result["packets"]["received"] > 0, result["packets"]


def test_vlans_of_the_kernel(guest: Guest) -> None:
    """The tests that skip where the kernel has no VLANs: none of them may skip here."""
    done = guest.run(
        "cd /tree && python3 -m pytest -p no:cacheprovider -q tests/system/test_router_vlan.py "
        "-k 'not longest_frame'",
        600,
        check=False,
    )
    assert done.code == 0, done.out
    assert "skipped" not in done.out.splitlines()[-1], done.out


def test_the_kernel_switches_labels(guest: Guest) -> None:
    results = bench(guest, "--wire veth --dut kernel --only U4,B4")
    assert set(results) == {"U4", "B4"}
    for result in results.values():
        all_came_back(result)


@pytest.mark.parametrize("device", ["kernel", "bridge", "nftables"])
def test_the_kernel_forwards(guest: Guest, device: str) -> None:
    all_came_back(bench(guest, f"--wire veth --dut {device} --only B2")["B2"])


def test_flows_are_offloaded(guest: Guest) -> None:
    """They go by the flow table: conntrack says so, and the forward chain sees none of them."""
    command = f"linerate bench --wire veth --dut nftables --only U3 --link {LINK} --duration 10s"
    with guest.background(f"{command} --runs /tmp/runs-offload", 120):
        look = guest.run(
            "for i in $(seq 300); do "
            "netns=$(ip netns list | grep -o '^lr-[^ ]*-dut' | tail -n 1); "
            '[ -n "$netns" ] && ip netns exec $netns conntrack -L 2>/dev/null | grep OFFLOAD && '
            "ip netns exec $netns nft list flowtables && exit 0; sleep 0.3; done; exit 1",
            200,
        )
    assert "udp" in look.out
    assert "flowtable f" in look.out


def test_xdp(guest: Guest) -> None:
    all_came_back(bench(guest, "--wire af_xdp --dut io --only B2")["B2"])


def test_a_bridge_that_filters_vlans(guest: Guest) -> None:
    """The bridge forwards one of two VLANs; packets lost in it are the bridge's."""
    guest.run(BRIDGE)
    try:
        streams = [_tagged(100), _tagged(200)]
        ports = [{"name": f"t{i}", "driver": "socket-mmap", "device": f"vt{i}"} for i in range(2)]
        config = {
            "name": "vlan-bridge",
            "memory": {"megabytes": 128},
            "ports": ports,
            "tester": {"ports": ["t0", "t1"], "streams": streams},
        }
        plan = {"config": config, "trials": [{"seconds": 1}]}
        guest.write("/tmp/bridge.json", json.dumps(plan))
        done = guest.run("python3 /tree/tests/nics/inside/trials.py /tmp/bridge.json", 120)
    finally:
        guest.run("ip link delete br0; ip link delete vt0; ip link delete vt1", check=False)
    text = json.loads(done.out)
    assert not text["error"], text["error"]
    (trial,) = text["trials"]
    assert trial["status"]["sent_packets"] == 400
    assert trial["status"]["received_packets"] == 200


def _tagged(vlan: int) -> dict[str, Any]:
    return {
        "port": "t0",
        "rx_port": "t1",
        "frame_bytes": 68,
        "rate": {"pps": 200},
        "layers": [
            {"ethernet": {"src": "50:7c:6f:20:30:70", "dst": "50:7c:6f:20:30:71"}},
            {"vlan": {"id": vlan}},
            {"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"}},
            {"udp": {}},
        ],
    }


BRIDGE = """\
set -e
ip link add br0 type bridge vlan_filtering 1 stp_state 0 mcast_snooping 0
for i in 0 1; do
    ip link add vt$i type veth peer name vb$i
    ethtool -K vt$i rx off tx off txvlan off rxvlan off >/dev/null
    ethtool -K vb$i rx off tx off txvlan off rxvlan off >/dev/null
    sysctl -qw net.ipv6.conf.vt$i.disable_ipv6=1 net.ipv6.conf.vb$i.disable_ipv6=1
    ip link set vb$i master br0
    bridge vlan add dev vb$i vid 100
    ip link set vb$i up
    ip link set vt$i arp off promisc on up
done
sysctl -qw net.ipv6.conf.br0.disable_ipv6=1
ip link set br0 up
"""
