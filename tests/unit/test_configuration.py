"""Configurations: read from the command line, one clear line a mistake, names as in tables."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.base.errors import TestbedError
from linerate.host.netns.interfaces import Interface
from linerate.lab.links.veth import VethLink
from linerate.model.sut_config import ConfigurationError, applied, parse, parse_all, words
from linerate.model.testbed import Testbed
from linerate.model.testbed import parse as read

PUBLISHED = Path(__file__).parents[1] / "data" / "ls2088a.csv"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mode=io", "io"),
        ("mode=router", "router"),
        ("mode=router,workers=2", "router 2 workers"),
        ("mode=io,ports=4", "io 4 ports"),
        ("driver=socket-vector,threading=lock-free", "socket-vector-10 lock-free"),
        ("driver=socket-vector,batch=64", "socket-vector-64"),
        ("driver=io_uring", "io_uring"),
        ("driver=io_uring,batch=32", "io_uring-32"),
        ("driver=socket-mmap,mode=router,wire=veth", "socket-mmap router"),
        ("dut=kernel", "kernel"),
        ("dut=kernel,directions=1", "kernel one way"),
        ("dut=testpmd,wire=memif", "testpmd on memif"),
        ("mode=io,name=mine", "mine"),
    ],
)
def test_a_name_says_what_is_not_usual(text, name):
    assert parse(text).name == name
    assert " " not in parse(text).key


def test_published_names_are_ours():
    """The rows of the published table that we can be are named as there."""
    with PUBLISHED.open(encoding="utf-8") as file:
        published = {row["configuration"] for row in csv.DictReader(file)}
    ours = {parse(f"driver={driver}").name for driver in words("driver") if driver != "card"}
    assert {"socket-single", "socket-vector-10", "socket-mmap", "libpcap"} <= ours & published


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected KEY=VALUE"),
        ("io", "expected KEY=VALUE"),
        ("mode=", "expected KEY=VALUE"),
        ("mode=fly", "mode: expected one of router, io"),
        ("mode=io,mode=io", "mode: given twice"),
        ("colour=red", "no key 'colour'; expected some of mode, driver"),
        ("driver=card,wire=veth", "driver card can't be on wire veth"),
        ("mode=io,wire=veth", "driver: required on veth"),
        ("driver=socket-mmap,wire=card", "driver socket-mmap can't be on wire card"),
        ("dut=kernel,threading=locked", "threading: is the engine's"),
        ("dut=kernel,wire=card", "kernel can't be on a virtual card"),
        ("mode=io,batch=3", "batch: expected driver=socket-vector or io_uring, not card"),
        ("driver=socket-mmap,batch=3", "not socket-mmap"),
        ("dut=kernel,ports=4", "ports: expected 2 with kernel on veth"),
        ("driver=memif,ports=4", "ports: expected 2 with engine on memif"),
        ("driver=socket-vector,batch=0", "batch: expected 1 to 256"),
        ("mode=io,ports=3", "ports: expected 2 or 4"),
        ("mode=io,workers=two", "workers: expected 1 to 16"),
        ("mode=io,name=a/b", "name: expected letters"),
    ],
)
def test_a_mistake_is_one_line(text, message):
    with pytest.raises(ConfigurationError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_need_two_names():
    with pytest.raises(ConfigurationError, match="'io' is there twice"):
        parse_all(["mode=io", "driver=card"])
    assert len(parse_all(["mode=io", "mode=io,name=again"])) == 2


@given(st.text(max_size=40))
def test_any_text_is_read_or_reported(text):
    try:
        name = parse(text).name
    except ConfigurationError as error:
        name = str(error)
    assert name


def test_it_makes_a_applied_another():
    base = Testbed.model_validate({"card": "cx5-en"})
    made = applied(base, parse("mode=macswap,workers=2"))
    assert (made.dut.mode, made.dut.workers, made.card) == ("macswap", 2, base.card)


@pytest.mark.parametrize("driver", ["socket-vector", "io_uring"])
def test_a_batch_reaches_the_ports(driver):
    made = applied(Testbed(), parse(f"driver={driver},batch=32"))
    end = VethLink("veth", "socket-mmap")._dut_end(made, Interface("there", "e0"), 2)
    assert (end.port["driver"], end.port["batch"]) == (driver, 32)
    usual = applied(Testbed(), parse(f"driver={driver}"))
    assert "batch" not in VethLink("veth", "x")._dut_end(usual, Interface("there", "e0"), 2).port


def test_a_batch_of_another_driver_is_refused():
    with pytest.raises(TestbedError, match="batch: expected only with driver socket-vector or io_"):
        read({"wire": "veth", "dut": {"driver": "libpcap", "batch": 4}}, "file")
