"""Flags and the configuration file that programs start TRex with, read for a server of ours."""

from pathlib import Path

import pytest

from linerate.base.errors import TestbedError
from linerate.trex_server.trex_config import load
from linerate.trex_server.trex_flags import FlagError, parsed

#: As FD.io CSIT writes it (docs/sources.md), with numbers for MAC addresses in the first entry.
WRITTEN = """\
- version: 2
  c: 8
  limit_memory: 8192
  interfaces: ["0000:18:00.0", "3b:00.1/1"]
  port_info:
    - dest_mac: [0x3c, 0xfd, 0xfe, 0x9c, 0xee, 0xf5]
      src_mac: [0x3c, 0xfd, 0xfe, 0x9c, 0xee, 0xf4]
    - dest_mac: "3c:fd:fe:9c:ee:f4"
      src_mac: "3c:fd:fe:9c:ee:f5"
  platform:
    master_thread_id: 0
    latency_thread_id: 9
    dual_if:
      - socket: 0
        threads: [1, 2]
"""


@pytest.mark.parametrize(
    "words",
    [
        "-i --prefix tg1 --hdrh --no-scapy-server --iom 0 --cfg FILE -c 7",
        "-i --no-ofed-check --no-hw-flow-stat --checksum-offload --cfg=FILE --iom=0",
    ],
)
def test_flags_as_others_write_them(words):
    flags = parsed(words.split())
    assert (flags.config, flags.host) == (Path("FILE"), "127.0.0.1")


def test_without_a_file_it_is_where_trex_has_it():
    flags = parsed(["-i", "--listen", "0.0.0.0"])
    assert (flags.config, flags.host) == (Path("/etc/trex_cfg.yaml"), "0.0.0.0")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--cfg FILE", "expected -i"),
        ("-i --astf", "--astf"),
        ("-f cap2/dns.yaml -m 1", "-f"),
        ("-i --unheard-of", "--unheard-of"),
        ("-i --cfg", "--cfg"),
    ],
)
def test_flags_that_cannot_be_had_are_named(words, named):
    with pytest.raises(FlagError, match=named):
        parsed(words.split())


def test_a_file_of_trex_is_a_testbed(tmp_path):
    path = tmp_path / "trex_cfg.yaml"
    path.write_text(WRITTEN)
    testbed = load(path)
    assert testbed.wire == "ethdev"
    assert testbed.tester is not None
    ports = testbed.tester.ports or ()
    assert [port.device for port in ports] == ["0000:18:00.0", "0000:3b:00.1"]
    assert [port.mac for port in ports] == ["3c:fd:fe:9c:ee:f4", "3c:fd:fe:9c:ee:f5"]
    assert testbed.dut.macs == ("3c:fd:fe:9c:ee:f5", "3c:fd:fe:9c:ee:f4")


def test_a_testbed_of_ours_will_do(tmp_path):
    path = tmp_path / "testbed.yaml"
    path.write_text("wire: card\n")
    assert load(path).wire == "card"


@pytest.mark.parametrize(
    "text",
    ["[]", "- 5", "- interfaces: []", "- interfaces: [a, b, c, d]", "- interfaces: [{}, ..]", "[",
     "- interfaces: ['0000:18:00.0']\n  port_info: [{src_mac: [1, 2]}]", ""],
)  # fmt: skip
def test_another_file_is_refused_in_a_line(tmp_path, text):
    path = tmp_path / "trex_cfg.yaml"
    path.write_text(text)
    with pytest.raises(TestbedError):
        load(path)
