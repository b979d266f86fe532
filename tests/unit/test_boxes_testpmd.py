"""A DPDK program as a box: counters and cycles in the answers of its telemetry."""

import json
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.loss_causes import cause_of
from linerate.parsers.boxes import Asked, UnreadableError, box_evidence, find

DATA = Path(__file__).parents[1] / "data/boxes/testpmd"
ASKED = Asked(ports={"e0": "net_af_packet0", "e1": "net_af_packet1"})


def answer(asked: str, value: object) -> str:
    return f"{asked} {json.dumps({asked.partition(',')[0]: value})}\n"


def ports(**stats: int) -> str:
    return "".join(
        answer(f"/ethdev/info,{number}", {"name": f"net_af_packet{number}", "port_id": number})
        + answer(f"/ethdev/stats,{number}", {"ipackets": 10, "opackets": 7, **stats, "q": [1]})
        for number in (0, 1)
    )


def test_ports_by_name_and_by_number():
    by_name = find("testpmd").counted({"ports": ports()}, ASKED)
    by_number = find("testpmd").counted({"ports": ports()}, Asked(ports={"e0": "0", "e1": "1"}))
    assert by_name.ports == by_number.ports
    assert by_name.ports["e0"] == {"rx_packets": 10, "tx_packets": 7}


@pytest.mark.parametrize(
    ("counter", "place", "cause", "received"),
    [
        ("imissed", "e0: rx missed: the program did not poll in time", "rx-ring", 15),
        ("ierrors", "e0: rx errors", "damaged", 15),
        ("oerrors", "e0: tx errors: refused by the driver", "tx-ring", 10),
    ],
)
def test_each_counter_of_a_port_is_a_place(counter, place, cause, received):
    counted = find("testpmd").counted({"ports": ports(**{counter: 5})}, ASKED)
    assert counted.losses[place] == 5
    assert cause_of(place) == cause
    # Packets that a port missed had reached it.
    assert counted.ports["e0"]["rx_packets"] == received


def test_a_port_that_is_not_there_is_named():
    with pytest.raises(UnreadableError, match="no port xxv1 in the DPDK program; it has net_af"):
        find("testpmd").counted({"ports": ports()}, Asked(ports={"e0": "xxv1", "e1": "xxv2"}))


def test_a_recorded_program_counts_each_packet():
    path = DATA / "af_packet.json"
    box = BoxAnswers.model_validate_json(path.read_text(encoding="utf-8"))
    (before,), (after,) = box.batches("before"), box.batches("after")
    early, late = (find("testpmd").counted(texts(one), ASKED) for one in (before, after))
    received = late.ports["e0"]["rx_packets"] - early.ports["e0"]["rx_packets"]
    sent = late.ports["e1"]["tx_packets"] - early.ports["e1"]["tx_packets"]
    assert received == sent > 100_000
    # DPDK 22.11 counts no cycles.
    assert box_evidence(box).workers == ()


def at_load(asked_us: int, total: int, busy: int, packets: int) -> Answer:
    usage = {"lcore_ids": [0, 1], "total_cycles": [0, total], "busy_cycles": [0, busy]}
    text = ports(ipackets=packets) + answer("/eal/lcore/usage", usage)
    return Answer(
        moment="load", question="lcores", command="", asked_us=asked_us, took_us=1, text=text
    )


def test_a_thread_that_counts_its_cycles_is_a_worker():
    answers = (at_load(1_000_000, 0, 0, 0), at_load(3_000_000, 4_000_000_000, 3_000_000_000, 5000))
    box = BoxAnswers(kind="testpmd", at="local", ports=dict(ASKED.ports), answers=answers)
    (worker,) = box_evidence(box).workers
    assert worker.name == "lcore-1"
    assert worker.spare_percent == pytest.approx(25)
    assert worker.tsc_hz == pytest.approx(2e9)
    # Both ports received 5,000.
    assert worker.clocks_per_packet == pytest.approx(300_000)


def served(path: Path, replies: dict[str, object]) -> threading.Thread:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(str(path))
    server.listen(1)

    def serve() -> None:
        connection, _ = server.accept()
        with server, connection:
            connection.send(json.dumps({"version": "DPDK", "max_output_len": 16384}).encode())
            while asked := connection.recv(1024).decode():
                reply = {asked.partition(",")[0]: replies.get(asked)}
                connection.send(json.dumps(reply).encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


@pytest.mark.skipif(shutil.which("python3") is None, reason="needs python3 on the path")
def test_the_question_is_a_command_of_a_shell(tmp_path: Path):
    """Asked by a shell, as on a box: the socket's answers for each port, in its order."""
    path = tmp_path / "dpdk_telemetry.v2"
    replies: dict[str, object] = {
        "/ethdev/list": [0, 1],
        "/ethdev/stats,1": {"ipackets": 5, "opackets": 6},
    }
    thread = served(path, replies | {"/ethdev/info,1": {"name": "p1"}})
    asked = Asked(ports={"e0": "p1", "e1": "p1"}, socket=str(path))
    (question, *_) = find("testpmd").counters(asked)
    ran = subprocess.run(
        ["sh", "-c", question.command], capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.stderr == ""
    thread.join(30)
    counted = find("testpmd").counted({"ports": ran.stdout}, asked)
    assert counted.ports["e0"]["rx_packets"] == 5


def test_a_program_without_telemetry_is_named_in_one_line(tmp_path: Path):
    asked = Asked(ports=ASKED.ports, socket=str(tmp_path / "none"))
    (question, *_) = find("testpmd").counters(asked)
    ran = subprocess.run(
        ["sh", "-c", question.command], capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.returncode
    assert ran.stderr.startswith(f"no DPDK program answers at {tmp_path}/none: start it with")
    assert ran.stderr.count("\n") == 1


MACS = {"e0": "02:00:00:00:00:01", "e1": "02:00:00:00:00:02"}


def over_sockets(
    mtu: int = 1500, address: str = MACS["e0"], up: bool = True, **grown: int
) -> dict[str, str]:
    """Answers of a program over packet sockets on e0 and e1, whose counters grew since 0."""
    words = [f"--vdev=net_af_packet{n},iface=e{n},qdisc_bypass=1" for n in (0, 1)]
    text = answer("/eal/params", ["dpdk-testpmd", *words])
    for number, (name, mac) in enumerate(MACS.items()):
        info = {"name": f"net_af_packet{number}", "mac_addr": mac.upper(), "mtu": mtu}
        stats = {
            way: grown.get(f"{name}_{way}", 0)
            for way in ("ipackets", "opackets", "ibytes", "imissed", "oerrors")
        }
        text += answer(f"/ethdev/info,{number}", info)
        text += answer(f"/ethdev/stats,{number}", stats)
        text += answer(f"/ethdev/link_status,{number}", {"status": "UP"})
    links = [
        {
            "ifname": name,
            "address": address if name == "e0" else mac,
            "operstate": "UP" if up else "DOWN",
            "stats64": {
                way: {"packets": grown.get(f"{name}_kernel_{way}", 0)} for way in ("rx", "tx")
            },
        }
        for name, mac in MACS.items()
    ]
    return {"ports": text, "ip -s link": json.dumps(links)}


def test_the_kernel_counts_what_a_packet_socket_dropped_and_kept():
    answers = over_sockets(
        e0_ipackets=70, e0_imissed=10, e0_kernel_rx=100, e1_opackets=70, e1_kernel_tx=40
    )
    found = find("testpmd").counted(answers, ASKED)
    assert found.ports["e0"]["rx_packets"] == 100
    assert found.ports["e1"]["tx_packets"] == 40
    lost = {place: packets for place, packets in found.losses.items() if packets > 0}
    assert lost == {
        "e0: rx missed: the program did not poll in time": 10,
        "e0: packet socket full, or not polled": 20,
        "e1: not sent by the kernel, but left in the packet socket": 30,
    }
    assert [cause_of(place) for place in lost] == ["rx-ring", "rx-ring", "tx-ring"]


def test_an_interface_of_another_namespace_counts_for_no_port():
    answers = over_sockets(address="02:00:00:00:00:99", e0_ipackets=70, e0_kernel_rx=100)
    found = find("testpmd").counted(answers, ASKED)
    assert found.ports["e0"]["rx_packets"] == 70
    assert "e0: packet socket full, or not polled" not in found.losses


def answered(before: dict[str, str], after: dict[str, str]) -> BoxAnswers:
    return BoxAnswers(
        kind="testpmd",
        at="local",
        ports=ASKED.ports,
        answers=tuple(
            Answer(moment=moment, question=name, command="", asked_us=1, took_us=1, text=text)
            for moment, texts_ in (("before", before), ("after", after))
            for name, text in texts_.items()
        ),
    )


def test_a_link_that_the_kernel_calls_down_is_down():
    found = box_evidence(answered(over_sockets(), over_sockets(up=False))).unplugged
    assert [one.text for one in found] == [
        "e0 (net_af_packet0): link down", "e1 (net_af_packet1): link down",
    ]  # fmt: skip
    assert box_evidence(answered(over_sockets(), over_sockets())).unplugged == ()


def test_packets_longer_than_the_mtu_are_seen():
    def read(mtu: int) -> BoxAnswers:
        return answered(over_sockets(mtu), over_sockets(mtu, e0_ipackets=10, e0_ibytes=15140))

    found = [one.text for one in box_evidence(read(1000)).short_mtus]
    assert found[1] == "e1 (net_af_packet1): MTU 1000, packets of 1500 bytes"
    assert box_evidence(read(1500)).short_mtus == ()


def test_a_thread_that_polls_without_a_cpu_is_a_worker():
    """DPDK before 23.03 counts no cycles; the scheduler knows the thread all the same."""

    def at(seconds: float, ran: float, waited: float, throttled: float) -> Answer:
        lines = (
            f"{seconds} 7\ndpdk-testpmd 5 5 1\n"
            f"rte-worker-1 {round(ran * 1e9)} {round(waited * 1e9)} 9\n"
            f"throttled_time {round(throttled * 1e9)}\n"
        )
        text = ports() + lines
        return Answer(moment="load", question="lcores", command="", asked_us=round(seconds * 1e6),
                      took_us=1, text=text)  # fmt: skip

    box = answered({}, {}).model_copy(
        update={"answers": (at(10.0, 3.0, 1.0, 0.0), at(12.0, 3.4, 1.1, 1.5))}
    )
    (worker,) = box_evidence(box).workers
    assert worker.name == "rte-worker-1"
    assert worker.waited_percent == pytest.approx(80.0)
    assert "80 % of the time (75 % its quota)" in worker.quote.text
    assert worker.saturated is False
