"""Each NIC model with each driver: made ready, measured, disturbed and given back."""

import re
from typing import Any

import pytest
from tests.nics.bench import MACS, Bench, low, measured
from tests.nics.emulation import LOW_PPS
from tests.nics.labs import KERNEL_DRIVERS, PORTS, address, mac
from tests.nics.linux_router import linux_router, net_of
from tests.nics.transcript import keep

#: As router.vpp has it.
ROUTER = """\
set int state e0 up
set int state e1 up
set int ip address e0 100.64.1.1/30
set int ip address e1 100.64.2.1/30
ip route add 16.0.0.0/24 via 100.64.1.2
ip route add 48.0.0.0/24 via 100.64.2.2
ip neighbor e0 100.64.1.2 50:7c:6f:20:30:70
ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71
"""
#: Frames: more than the rings of all NICs on the way, less than QEMU's queues (10,000).
BURST = 6_000
#: Descriptors: as few as each of the drivers takes.
SMALL_RING = 128


def settings_of(mode: str) -> dict[str, Any]:
    return {"router": {"cli": ROUTER}} if mode == "router" else {}


def faults(doctor: str) -> list[str]:
    """Checks with a fault; what is right is in one line at the end, and notes are no faults."""
    named = [line.split(" ")[0] for line in doctor.split("\nok:", maxsplit=1)[0].splitlines()[1:]]
    return [name for name in named if name]


def test_the_doctor_makes_them_ready(bench: Bench) -> None:
    assert bench.found.code == 1, bench.found.out
    assert faults(bench.found.out).count("binding") == len(PORTS), bench.found.out
    assert "hugepages" in faults(bench.found.out)
    for port in PORTS:
        assert f"done: bind {address(port)} to {bench.lab.driver}" in bench.mended.err
    assert not {"binding", "hugepages"} & set(faults(bench.mended.out)), bench.mended.out
    assert bench.drivers() == [bench.lab.driver] * len(PORTS)


@pytest.mark.parametrize("mode", ["io", "macswap", "router"])
def test_all_come_back(bench: Bench, mode: str) -> None:
    config = bench.config(mode, [low(0), low(1)], **settings_of(mode))
    done = bench.trials(config, {"seconds": 1})
    assert not done.error, done.error
    (trial,) = done.trials
    assert trial.sent == trial.received == 2 * LOW_PPS, trial
    assert trial.losses == {}
    assert trial.unexplained == 0
    assert trial.status["drained"]
    for name, port in done.ports.items():
        assert (port["rx_packets"], port["tx_packets"]) == (LOW_PPS, LOW_PPS), (name, port)


def test_another_mac_is_a_loss_with_a_name(bench: Bench) -> None:
    other = {"ethernet": {"src": MACS["t0"], "dst": "02:00:00:00:0e:99"}}
    wrong = low(0)
    wrong["layers"][0] = other
    done = bench.trials(bench.config("router", [wrong], **settings_of("router")), {"seconds": 1})
    (trial,) = done.trials
    assert trial.losses == {"ethernet-input: l3 mac mismatch": LOW_PPS}
    assert (trial.sent, trial.received, trial.unexplained) == (LOW_PPS, 0, 0)


def test_frames_longer_than_the_mtu_are_a_loss_with_a_name(bench: Bench) -> None:
    whole = low(0, frame_bytes=1518)
    whole["layers"][1]["ipv4"]["dont_fragment"] = True
    config = bench.config("router", [whole], **settings_of("router"))
    config["forwarder"]["router"]["cli"] += "set interface mtu packet 1000 e1\n"
    (trial,) = bench.trials(config, {"seconds": 1}).trials
    assert trial.sent == LOW_PPS
    assert trial.received == 0
    assert trial.unexplained == 0, trial
    assert sum(trial.losses.values()) > 0, trial


def test_a_burst_is_accounted_for(bench: Bench) -> None:
    """More at once than rings hold, and a forwarder that is slow.

    QEMU's wires hold some, too; its igb does not, and drops what its ring has no room for without
    counting it: then only the other end's counters show it.
    """
    burst = low(0, rate={"max": True}, burst=BURST)
    config = bench.config("io", [burst], burn={"clocks": 20_000})
    config["ports"][PORTS.index("d0")]["rx_ring"] = SMALL_RING
    done = bench.trials(config, {"seconds": 1})
    (trial,) = done.trials
    assert trial.sent == BURST
    assert trial.unexplained == lost_on_wire(done.ports, ("t0", "e0")), done
    assert trial.unexplained == 0 or bench.lab.model == "igb", trial


@pytest.mark.parametrize("mode", ["io", "router"])
def test_bench(bench: Bench, mode: str) -> None:
    testbed = bench.testbed(mode, mode=mode)
    assert measured(bench, testbed, f"bench-{mode}").trial.losses == {}


def test_probe(bench: Bench) -> None:
    probed = bench.guest.run(f"linerate nic probe {address('t0')}", 300)
    keep(bench.lab, "probe", probed)
    text = probed.out
    rows = {line[:22].strip(): line[22:].split() for line in text.splitlines()}
    takes = {name: row for name, row in rows.items() if "yes" in row}
    if bench.lab.model == "igb":
        assert rows["ipv4 udp flow"][0] == rows["eth type"][0] == "yes", text
        assert takes["ipv4 udp flow"][6] == "yes"
        assert "rules that fit: 8 before" in text
    else:
        assert takes == {}, text
        assert "takes no rte_flow rules" in text


def lost_on_wire(ports: dict[str, dict[str, Any]], ends: tuple[str, str]) -> int:
    """Frames that each end's NIC sent and the other's never received, by their own counters."""
    one, other = (ports[end] for end in ends)
    both = ((one, other), (other, one))
    seen = ("rx_packets", "rx_missed")
    return int(sum(source["tx_packets"] - sum(sink[n] for n in seen) for source, sink in both))


def test_a_cable_pulled_out_ends_the_trial(bench: Bench) -> None:
    """NICs of QEMU count what they send without a cable: no counter names what is lost so."""
    config = bench.config("io", [low(0), low(1)])
    running = bench.start_trials(config, {"seconds": 60, "mark": "/tmp/sending"})
    bench.guest.run(SENDING)
    with bench.guest.unplugged("t0"):
        done = bench.result(running)
    (trial,) = done.trials
    assert trial.status["link_down_port"] == ["t0"], trial
    assert 0 < trial.status["elapsed_us"] < 60_000_000
    assert 0 < trial.sent < 60 * 2 * LOW_PPS
    assert trial.unexplained == lost_on_wire(done.ports, ("t0", "e0")), done
    assert lost_on_wire(done.ports, ("t1", "e1")) == 0, done
    assert trial.losses == {}


def test_a_bench_names_a_link_that_stays_down(bench: Bench) -> None:
    testbed = bench.testbed("all", mode="io")
    with bench.guest.unplugged("t0"):
        done = bench.guest.run(
            f"linerate bench {testbed} --only U2 --runs /tmp/d", 300, check=False
        )
    assert done.code != 0
    assert f"waiting for link of t0 ({address('t0')})" in done.err, done
    text = " ".join(done.out.split())
    assert f"failed: t0 ({address('t0')}): no link after 15 s: check its cable" in text, done


def test_the_doctor_names_a_link_that_is_down(bench: Bench) -> None:
    """A NIC that the kernel still has, with its interface up and no cable."""
    testbed = bench.testbed("all", mode="io")
    with bench.left_to_linux("t0"), bench.guest.unplugged("t0"):
        name = bench.guest.run(f"ls {net_of('t0')} | tail -n 1").out.strip()
        bench.guest.run(f"ip link set {name} up; sleep 2")
        done = bench.guest.run(f"linerate doctor {testbed}", check=False)
    short = address("t0").removeprefix("0000:")
    assert re.search(rf"^link {short} {name} +down +up", done.out, re.MULTILINE), done.out
    assert "the cable, the module, the other end" in done.out


#: A trial's mark, waited for and taken away.
SENDING = "until [ -e /tmp/sending ]; do sleep 0.2; done; rm /tmp/sending"


def test_a_killed_engine_gives_them_back(bench: Bench) -> None:
    config = bench.config("io", [low(0), low(1)])
    running = bench.start_trials(config, {"seconds": 30, "mark": "/tmp/sending"})
    bench.guest.run(SENDING)
    bench.guest.run("kill -KILL $(pidof linerate-engine)")
    assert running.wait(60).code != 0
    (trial,) = bench.trials(config, {"seconds": 1}).trials
    assert trial.sent == trial.received == 2 * LOW_PPS


def test_a_linux_router(bench: Bench) -> None:
    """An external device: the guest's own kernel, on the two other NICs."""
    with bench.left_to_linux("d0", "d1"), linux_router(bench.guest) as forwarded:
        testbed = bench.testbed("external", kind="external", macs=[mac("d0"), mac("d1")])
        done = measured(bench, testbed, "bench-external")
        assert forwarded() >= done.trial.sent


def test_a_killed_bench_and_undo_give_them_back(bench: Bench) -> None:
    """The last test of a lab's NICs."""
    testbed = bench.testbed("all", mode="io")
    running = bench.guest.start(f"linerate bench {testbed} --only U2 --duration 60s --runs /tmp/k")
    bench.guest.run("until pidof linerate-engine; do sleep 0.5; done")
    running.signal("KILL")
    bench.guest.run("while pidof linerate-engine; do sleep 0.5; done", 60)
    undone = bench.guest.run("linerate doctor --undo", check=False)
    keep(bench.lab, "undo", undone)
    assert bench.drivers() == [KERNEL_DRIVERS[bench.lab.model]] * len(PORTS), undone
    assert bench.hugepages() == 0
    # An engine was killed, too: what it left in a NIC is no NIC's address.
    found = [
        bench.guest.run(f"cat /sys/class/net/$(ls {net_of(port)} | tail -n 1)/address").out.strip()
        for port in PORTS
    ]
    assert found == [mac(port) for port in PORTS], undone
