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
