"""Testbed files: what they may say, and one line for each mistake."""

import pytest

from linerate.base import memory_size
from linerate.base.errors import TestbedError
from linerate.lab import engine_config, links, rig
from linerate.lab.engine_config import dut_macs, router_cli
from linerate.lab.links import ethdev
from linerate.model.nic_presets import DEFAULT, PRESETS
from linerate.model.suites import SUITES
from linerate.model.testbed import ENGINE_MODES, Testbed, load, parse, with_options
from linerate.model.worker_cpus import check_cpus

U4 = SUITES["standard"].loadtests[3]
DEVICES = [{"device": "0000:05:00.0"}, {"device": "0000:05:00.1"}]
REAL = {"wire": "ethdev", "link": "25G", "tester": {"ports": DEVICES}}


def bench_config(testbed, loadtest, name):
    """As the rig writes it: with our forwarder, or the tester alone."""
    write = engine_config.bench_config if testbed.dut.built_in else engine_config.tester_config
    with links.find(testbed.wire).joined(testbed) as ends:
        return write(testbed, ends, loadtest, name)


def ceiling_config(testbed, loadtest, name):
    wire = links.find(testbed.wire)
    assert isinstance(wire, links.BareLinkKind)
    with wire.bare(testbed) as ends:
        return engine_config.ceiling_config(testbed, ends, loadtest, name)


def mistakes(document):
    with pytest.raises(TestbedError) as caught:
        parse(document, "bed.yaml")
    return caught.value.lines


def test_a_file_that_says_nothing_is_a_router_on_a_virtual_card(tmp_path):
    file = tmp_path / "bed.yaml"
    file.write_text("{}  # nothing\n")
    testbed = load(file)
    assert testbed == Testbed()
    assert testbed.card == DEFAULT
    assert testbed.dut.mode == "router"
    assert testbed.line_bps == 10**10


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_names(name):
    testbed = parse({"card": name}, "bed.yaml")
    assert testbed.card == PRESETS[name]
    config = bench_config(testbed, U4, "x")["cards"][0]
    assert config["link_bps"] == PRESETS[name].link_bps
    assert config["host"] == "ports"


def test_a_preset_can_be_changed():
    card = parse({"card": {"preset": "cx4-lx", "rx_queues": 1, "link": "10G"}}, "bed.yaml").card
    assert card.rx_queues == 1
    assert card.link_bps == 10**10
    assert card.pcie == PRESETS["cx4-lx"].pcie


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({"wier": "card"}, "bed.yaml: wier: no such key"),
        (
            {"wire": "rope"},
            "bed.yaml: wire: expected one of af_xdp, cabled, card, ethdev, interfaces, memif, veth, not 'rope'",
        ),
        (
            {"card": "cx9"},
            "bed.yaml: card: expected one of i226-v, 82599es, x710, mcx342a, cx4-lx, cx5-en, default; not 'cx9'",
        ),
        (
            {"card": {"rx_queues": "many"}},
            "bed.yaml: card.rx_queues: expected a whole number, not 'many'",
        ),
        ({"card": {"rx_queues": 0}}, "bed.yaml: card.rx_queues: expected 1 or more, not 0"),
        ({"card": {"rx_queues": 99}}, "bed.yaml: card.rx_queues: expected 16 or less, not 99"),
        (
            {"card": {"rx_ring": 1000}},
            "bed.yaml: card.rx_ring: expected a power of two from 32 to 32768",
        ),
        (
            {"card": {"link": "fast"}},
            "bed.yaml: card.link_bps: expected a bit rate as 10G, 2.5G or 100M, not 'fast'",
        ),
        (
            {"card": {"pcie": {"gigatransfers": 7, "lanes": 4}}},
            "bed.yaml: card.pcie.gigatransfers: expected 2.5, 5, 8, 16 or 32 (GT/s per lane)",
        ),
        (
            {"card": {"pcie": {"gigatransfers": 8}}},
            "bed.yaml: card.pcie.lanes: required, but missing",
        ),
        ({"dut": "router"}, "bed.yaml: dut: expected keys and values, not 'router'"),
        ({"dut": {"workers": 0}}, "bed.yaml: dut.workers: expected 1 or more, not 0"),
        (
            {"dut": {"kind": "external"}},
            "bed.yaml: wire: expected ethdev, interfaces, memif, veth, af_xdp or cabled for an external device, not 'card'",
        ),
        (
            {"name": "no spaces"},
            "bed.yaml: name: expected 1 to 40 letters, digits, '-' and '_', not 'no spaces'",
        ),
        (
            {"wire": "ethdev"},
            'bed.yaml: tester.ports: required with `wire: ethdev`: expected two, as [{device: "0000:05:00.0"}, {device: "0000:05:00.1"}]',
        ),
        (
            REAL | {"dut": {"kind": "external", "macs": ["02:00:00:00:00", "02:00:00:00:00:01"]}},
            "bed.yaml: dut.macs.0: expected a MAC address as 02:00:00:00:0e:00, not '02:00:00:00:00'",
        ),
        (
            REAL | {"tester": {"burn": {"clocks": 5}}, "dut": {"ports": DEVICES}},
            'bed.yaml: tester.ports: required with `wire: ethdev`: expected two, as [{device: "0000:05:00.0"}, {device: "0000:05:00.1"}]',
        ),
        (
            REAL | {"dut": {"ports": [{**DEVICES[0], "rx_queues": 17}, DEVICES[1]]}},
            "bed.yaml: dut.ports.0.rx_queues: expected 16 or less, not 17",
        ),
        (
            REAL | {"dut": {"ports": [{**DEVICES[0], "tx_ring": 0}, DEVICES[1]]}},
            "bed.yaml: dut.ports.0.tx_ring: expected 1 or more, not 0",
        ),
        (
            REAL | {"dut": {"ports": [{**DEVICES[0], "rss": []}, DEVICES[1]]}},
            "bed.yaml: dut.ports.0.rss: expected one field or more, as [ipv4, ipv4-udp]",
        ),
        ({"tester": {"burn": {}}}, "bed.yaml: tester.burn.clocks: required, but missing"),
        ({"dut": {"burn": {"cycles": 5}}}, "bed.yaml: dut.burn.cycles: no such key"),
        ({"dut": {"lose": {}}}, "bed.yaml: dut.lose.probability: required, but missing"),
        (
            {"dut": {"burn": {"clocks": -1}}},
            "bed.yaml: dut.burn.clocks: expected 0 or more, not -1",
        ),
        (
            {"dut": {"burn": {"how": "badly"}}},
            "bed.yaml: dut.burn.how: expected 'spin', 'sleep', 'syscall' or 'lock', not 'badly'",
        ),
        (
            {"dut": {"burn": {"pause_for_us": 5}}},
            "bed.yaml: dut.burn: pause_every_us, pause_for_us: expected both or neither",
        ),
        (
            {"dut": {"handoff": "maybe"}},
            "bed.yaml: dut.handoff: expected 'auto' or 'off', not 'maybe'",
        ),
        (
            {"dut": {"handoff_ring": 100}},
            "bed.yaml: dut.handoff_ring: expected a power of two from 32 to 32768, not 100",
        ),
        (["wire"], "bed.yaml: expected keys and values, as `wire: card`"),
    ],
)
def test_a_mistake_is_one_clear_line(document, line):
    assert mistakes(document) == [line]


def test_every_mistake_is_reported():
    lines = mistakes({"wire": "rope", "dut": {"workers": -1, "mode": "fly"}})
    assert len(lines) == 3
    assert all(line.startswith("bed.yaml: ") for line in lines)


def test_files_that_are_no_yaml(tmp_path):
    file = tmp_path / "bed.yaml"
    for content, message in (
        (b"wire: [", "line 2: expected YAML"),
        (b"\xff\xfe\xff", "expected YAML in UTF-8"),
    ):
        file.write_bytes(content)
        with pytest.raises(TestbedError) as caught:
            load(file)
        assert caught.value.lines[0].startswith(f"{file}: {message}")
    with pytest.raises(TestbedError, match="no such file"):
        load(tmp_path / "absent.yaml")


def test_the_router_file_is_found_beside_the_testbed(tmp_path):
    file = tmp_path / "bed.yaml"
    file.write_text("dut: {cli_file: my.vpp}\n")
    with pytest.raises(TestbedError, match=r"dut.cli_file: no such file"):
        load(file)
    (tmp_path / "my.vpp").write_text("set int state e0 up\n")
    config = bench_config(load(file), U4, "x")
    assert config["forwarder"]["router"] == {"cli": "set int state e0 up\n"}


def test_the_command_line_changes_a_testbed():
    testbed = with_options(parse({"card": "cx5-en"}, "x"), "io", None, 2)
    assert (testbed.dut.mode, testbed.dut.workers, testbed.card) == ("io", 2, PRESETS["cx5-en"])
    assert with_options(testbed, None, "default", None).card == DEFAULT
    with pytest.raises(TestbedError, match=r"the command line: dut\.mode: expected one of router,"):
        with_options(testbed, "fly", None, None)
    assert with_options(testbed, rx_mode="adaptive").dut.rx_mode == "adaptive"
    with pytest.raises(TestbedError, match=r"the command line: dut\.rx_mode: expected 'polling'"):
        with_options(testbed, rx_mode="asleep")


@pytest.mark.parametrize(
    ("card", "queues"), [("default", 3), ({"rx_queues": 2}, 2), ("i226-v", 1), ("cx4-lx", 3)]
)
def test_a_card_has_a_queue_for_each_worker_unless_it_has_fewer(card, queues):
    testbed = parse({"card": card, "dut": {"workers": 3, "rx_mode": "interrupt"}}, "x")
    config = bench_config(testbed, U4, "x")
    assert config["cards"][0]["rx_queues"] == queues
    assert (config["forwarder"]["workers"], config["forwarder"]["rx_mode"]) == (3, "interrupt")


@pytest.mark.parametrize("mode", ["io", "mac", "macswap", "csum", "l2fwd", "l2switch", "xconnect"])
def test_modes_that_forward_need_no_more_than_their_name(mode):
    assert mode in ENGINE_MODES
    config = bench_config(with_options(Testbed(), mode, None, None), U4, "x")
    assert config["forwarder"] == {
        "mode": mode,
        "ports": ["e0", "e1"],
        "workers": 1,
        "rx_mode": "polling",
    }


@pytest.mark.parametrize("mode", ["flowgen", "icmpecho"])
def test_modes_that_do_not_forward_cannot_be_tested(mode):
    with pytest.raises(TestbedError, match=r"dut\.mode: expected one of router,"):
        with_options(Testbed(), mode, None, None)


def test_real_ports_with_an_external_device():
    macs = ["aa:bb:cc:dd:ee:00", "AA:BB:CC:DD:EE:01"]
    testbed = parse(REAL | {"dut": {"kind": "external", "macs": macs}}, "x")
    config = bench_config(testbed, U4, "x")
    assert "cards" not in config
    assert "forwarder" not in config
    assert [port["device"] for port in config["ports"]] == ["0000:05:00.0", "0000:05:00.1"]
    assert all(port["link_bps"] == 25 * 10**9 for port in config["ports"])
    assert dut_macs(testbed) == ("aa:bb:cc:dd:ee:00", "aa:bb:cc:dd:ee:01")


def test_real_ports_with_our_forwarder():
    ports = [{"device": "net_af_packet0", "devargs": "iface=a"}, {"device": "net_af_packet1"}]
    testbed = parse(REAL | {"dut": {"mode": "io", "ports": ports}}, "x")
    config = bench_config(testbed, U4, "x")
    assert [port["name"] for port in config["ports"]] == ["e0", "e1", "t0", "t1"]
    assert config["ports"][0]["devargs"] == "iface=a"
    assert config["forwarder"] == {
        "mode": "io",
        "ports": ["e0", "e1"],
        "workers": 1,
        "rx_mode": "polling",
    }


def test_queues_of_real_ports_go_to_the_engine():
    asked = {"rx_queues": 4, "tx_queues": 2, "rx_ring": 512, "rss": ["ipv4", "ipv4-udp"]}
    ports = [{"device": "0000:06:00.0", **asked}, {"device": "0000:06:00.1"}]
    config = bench_config(parse(REAL | {"dut": {"ports": ports}}, "x"), U4, "x")
    first, second = config["ports"][:2]
    assert {key: first[key] for key in asked} == asked
    assert not set(asked) & set(second)


@pytest.mark.parametrize(
    ("workers", "queues"), [(1, None), (2, None), (3, 2), (4, 2), (5, 3), (32, 16)]
)
def test_more_workers_than_ports_of_the_tester_have_a_tx_queue_each(workers, queues):
    ports = [{"device": "0000:05:00.0"}, {"device": "0000:05:00.1"}]
    testbed = parse(EXTERNAL | {"tester": {"ports": ports, "workers": workers}}, "x")
    config = bench_config(testbed, U4, "x")
    assert [port.get("tx_queues") for port in config["ports"]] == [queues] * 2
    assert config["tester"].get("workers", 1) == workers
    with links.find(testbed.wire).joined(testbed) as ends:
        idle = engine_config.idle_config(testbed, ends, "x")
        live = engine_config.profiles_config(testbed, ends, "x")
    assert not any("tx_queues" in port for port in idle["ports"])
    assert [port.get("tx_queues") for port in live["ports"]] == [queues] * 2


def test_tx_queues_that_are_given_stay():
    ports = [{"device": "0000:05:00.0", "tx_queues": 4}, {"device": "net_memif1"}]
    testbed = parse(EXTERNAL | {"tester": {"ports": ports, "workers": 5}}, "x")
    found = [port.get("tx_queues") for port in bench_config(testbed, U4, "x")["ports"]]
    assert found == [4, None]


def test_a_virtual_card_is_sent_to_by_one_worker():
    config = bench_config(parse({"tester": {"workers": 6}}, "x"), U4, "x")
    assert not any("tx_queues" in port for port in config["ports"])


def test_the_ceiling_is_measured_over_a_bare_wire():
    config = ceiling_config(Testbed(), U4, "x")
    assert config["cards"][0] | {"max_frame_bytes": 0} == {
        "name": "card0",
        "link_bps": 0,
        "host": "shunt",
        "max_frame_bytes": 0,
    }
    assert "forwarder" not in config
    assert [stream["rate"] for stream in config["tester"]["streams"]] == [{"max": True}]


def test_limits_made_on_purpose_go_to_the_engine():
    dut = {
        "handoff": "off",
        "handoff_ring": 32,
        "burn": {"clocks": 8000, "how": "sleep"},
        "lose": {"probability": 0.01},
    }
    testbed = parse({"dut": dut, "tester": {"burn": {"clocks": 500}}}, "x")
    config = bench_config(testbed, U4, "x")
    assert (config["forwarder"]["handoff"], config["forwarder"]["handoff_ring"]) == ("off", 32)
    assert config["forwarder"]["burn"] == {
        "clocks": 8000,
        "call_clocks": 0,
        "contention_clocks": 0,
        "how": "sleep",
        "pause_every_us": 0,
        "pause_for_us": 0,
    }
    assert config["forwarder"]["lose"] == {"probability": 0.01}
    assert config["tester"]["burn"] == {"clocks": 500}
    assert ceiling_config(testbed, U4, "x")["tester"]["burn"] == {"clocks": 500}
    assert with_options(testbed, workers=2).dut.burn == testbed.dut.burn


def test_a_testbed_burns_nothing_unless_asked():
    config = bench_config(Testbed(), U4, "x")
    assert "burn" not in config["forwarder"] | config["tester"]
    assert (
        "burn"
        not in bench_config(
            parse(
                REAL
                | {"dut": {"kind": "external", "macs": ["02:00:00:00:00:00", "02:00:00:00:00:01"]}},
                "x",
            ),
            U4,
            "x",
        )["tester"]
    )


def test_workers_that_burn_asleep_share_cpus():
    burn = {"clocks": 8000, "how": "sleep"}
    check_cpus(parse({"dut": {"workers": 3, "burn": burn}}, "x"), (0, 1))
    for how, cpus in (("spin", (0, 1)), ("sleep", (0,))):
        testbed = parse({"dut": {"workers": 3, "burn": burn | {"how": how}}}, "x")
        with pytest.raises(TestbedError, match="need 4 CPUs"):
            check_cpus(testbed, cpus)


def test_the_routers_own_file_is_vpps():
    text = router_cli(None)
    assert "ip route add 48.0.0.0/24 via 100.64.2.2" in text
    assert "mpls local-label add 16 eos via 100.64.2.2 e1 out-labels 17" in text


@pytest.mark.parametrize(
    ("workers", "cpus", "fits"),
    [(1, 1, True), (1, 2, True), (2, 2, False), (2, 3, True), (3, 3, False), (2, 1, False)],
)
def test_workers_do_not_share_cpus(workers, cpus, fits):
    testbed = with_options(Testbed(), None, None, workers)
    if fits:
        check_cpus(testbed, tuple(range(cpus)))
        return
    with pytest.raises(TestbedError, match=f"need {workers + 1} CPUs, {cpus} may be used"):
        check_cpus(testbed, tuple(range(cpus)))


EXTERNAL = REAL | {"dut": {"kind": "external", "macs": ["02:aa:00:00:00:01", "02:aa:00:00:00:02"]}}


@pytest.mark.parametrize("pages", ["thp", "4k"])
def test_a_nic_takes_hugepages_only(pages):
    (line,) = mistakes(EXTERNAL | {"memory": {"pages": pages}})
    assert line == (
        "bed.yaml: memory.pages: expected hugepages or auto with a PCI port, "
        f"not '{pages}': a NIC cannot reach other pages"
    )
    devices = [{"device": "net_tap0"}, {"device": "net_tap1"}]
    assert parse(EXTERNAL | {"tester": {"ports": devices}, "memory": {"pages": pages}}, "bed.yaml")


def test_hugepages_of_a_nic_are_asked_for_before_any_work(monkeypatch):
    testbed = parse(EXTERNAL, "bed.yaml")
    monkeypatch.setattr(ethdev, "free_megabytes", lambda: 575)
    monkeypatch.setattr("linerate.base.pci.why_not_dpdk", lambda _name: "")
    (need,) = rig.missing(testbed)
    assert str(need) == (
        "a PCI port needs 576 MB of hugepages, 575 MB are free: sudo linerate doctor --fix"
    )
    monkeypatch.setattr(ethdev, "free_megabytes", lambda: 576)
    assert rig.missing(testbed) == []


@pytest.mark.parametrize(
    ("document", "megabytes"),
    [
        ({}, 576),
        (EXTERNAL, 576),
        ({"memory": {"megabytes": 1024}}, 1088),
        ({"wire": "memif", "dut": {"mode": "io"}}, 2 * 576),
        ({"wire": "veth", "dut": {"mode": "io"}}, 576),
        ({"memory": {"pages": "thp"}}, 0),
        ({"wire": "veth", "tester": {"kind": "iperf3"}, "dut": {"mode": "io"}}, 576),
        ({"wire": "veth", "tester": {"kind": "iperf3"}, "dut": {"kind": "kernel"}}, 0),
    ],
)
def test_hugepages_are_those_of_all_engines(document, megabytes):
    assert rig.hugepages_megabytes(parse(document, "bed.yaml")) == megabytes


def test_free_hugepages_are_of_all_sizes_but_those_reserved(tmp_path):
    for size, free, reserved in (("2048kB", "10", "3"), ("1048576kB", "1", "0")):
        folder = tmp_path / f"hugepages-{size}"
        folder.mkdir()
        (folder / "free_hugepages").write_text(free + "\n")
        (folder / "resv_hugepages").write_text(reserved + "\n")
    assert memory_size.free_megabytes(tmp_path) == 14 + 1024
    assert memory_size.free_megabytes(tmp_path / "nowhere") == 0


@pytest.mark.parametrize(
    "where",
    [
        "ssh://-oProxyCommand=x",
        "ssh://root@-oX",
        "netns:-a",
        "container:--x",
        "ssh://a b",
        "http://x",
    ],
)
def test_where_a_box_is_cannot_be_an_option(where):
    ports = [{"name": "e0"}, {"name": "e1"}]
    (line,) = mistakes({"wire": "veth", "dut": {"kind": "linux", "at": where, "ports": ports}})
    expected = "expected local, netns:NAME, container:NAME or ssh://LOGIN@HOST"
    assert line == f"bed.yaml: dut.at: {expected}, not '{where}'"


@pytest.mark.parametrize(
    ("dut", "line"),
    [
        ({"kind": "linux"}, "ports: required of kind linux: expected its two ports by name, as "
         "[{name: eth1}, {name: eth2}]"),
        ({"kind": "engine", "ports": [{"name": "a"}, {"name": "b"}]},
         "ports: expected devices, as {device: ...}, of kind engine"),
        ({"kind": "kernel", "at": "local"}, "at: expected of a box alone"),
    ],
)  # fmt: skip
def test_keys_of_a_box_are_no_other_devices(dut, line):
    (found,) = mistakes({"wire": "veth", "dut": dut})
    assert found.startswith(f"bed.yaml: dut: {line}")


@pytest.mark.parametrize(
    ("keys", "is_box"),
    [
        ({}, False),
        ({"at": "netns:r"}, True),
        ({"at": None}, True),
    ],
)
def test_a_vpp_is_a_box_where_its_place_or_its_ports_are_named(keys, is_box):
    ports = (
        {
            "ports": [{"name": "e0"}, {"name": "e1"}],
            "macs": ["02:00:00:00:0e:00", "02:00:00:00:0e:01"],
        }
        if keys
        else {}
    )
    tester = {"tester": {"sockets": ["/run/a.sock", "/run/b.sock"]}} if keys else {}
    given = {key: value for key, value in keys.items() if value}
    made = parse({"wire": "memif", "dut": {"kind": "vpp"} | ports | given} | tester, "bed.yaml")
    assert made.dut.is_box is is_box


def test_a_vpp_that_the_lab_starts_is_on_memif():
    (line,) = mistakes({"wire": "ethdev", "dut": {"kind": "vpp"}})
    assert line == (
        "bed.yaml: wire: expected memif for vpp, not 'ethdev'; a box has its `ports` by name"
    )


ONE = {"wire": "interfaces", "link": "1G", "tester": {"interfaces": ["a"]}}
TWO = ONE | {"tester": {"interfaces": ["a", "b"]}}
MACS = ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]


def box(*names, macs=1, **more):
    ports = [{"name": name} for name in names]
    return {"kind": "linux", "at": "local", "ports": ports, "macs": MACS[:macs], **more}


@pytest.mark.parametrize(
    ("bed", "dut", "line"),
    [
        (ONE, box("e0", "e1"), "dut.ports: expected one, as the tester has one port, not 2"),
        (TWO, box("e0", macs=2), "dut.ports: expected two: to send packets through one port in"),
        (TWO, box("e0", "e1", "e2", macs=2), "dut.ports: expected two for each pass through the"),
        (TWO, box("e0", "e1", "e0", "e2", macs=2), "dut.ports: e0 is named twice"),
        (ONE, box("e0", macs=2), "dut.macs: expected one, the tester has one port, not 2"),
        (TWO, box("e0", "e1"), "dut.macs: expected two, of the ports at the tester's, not 1"),
        (TWO, box(macs=2), "dut.ports"),
        (ONE | {"tester": {"interfaces": []}}, box("e0"), "tester.interfaces: "),
        (
            TWO | {"tester": {"interfaces": ["a", "b"], "vlans": [7]}},
            box("e0", "e1", macs=2),
            "tester.vlans: expected two, one for each of its ports",
        ),
        (
            REAL | {"tester": {"ports": DEVICES[:1]}},
            {"ports": DEVICES},
            "tester: one port is enough for a box alone: expected two",
        ),
    ],
)
def test_ports_that_make_no_path(bed, dut, line):
    (found,) = mistakes(bed | {"dut": dut})
    assert line in found


def test_a_hairpin_sends_one_way_through_its_one_port():
    testbed = parse(ONE | {"dut": box("e0")}, "x")
    loadtest = SUITES["standard"].loadtests[1]
    config = bench_config(testbed, loadtest, "x")
    assert [port["name"] for port in config["ports"]] == ["t0"]
    assert config["tester"]["ports"] == ["t0"]
    assert {(one["port"], one["rx_port"]) for one in config["tester"]["streams"]} == {("t0", "t0")}
    assert testbed.dut.port_names == {"e0": "e0"}
    able = [one.name for one in SUITES["standard"].loadtests if rig.can_run(testbed, one)]
    assert able == ["U1", "U2", "U3", "U4"]
    assert not rig.has_ceiling(testbed)


def test_a_hairpin_has_a_network_each_way():
    """In two VLANs: frames leave in the first, and neighbours are asked in both."""
    more = {"vlans": [10, 20], "addresses": ["100.64.1.2/30", "100.64.2.2/30"]}
    bed = ONE | {"tester": {"interfaces": ["a"], **more}}
    config = bench_config(
        parse(bed | {"dut": box("e0")}, "x"), SUITES["standard"].loadtests[1], "x"
    )
    assert config["tester"]["addresses"] == [
        {"port": "t0", "address": "100.64.1.2/30", "vlan": 10},
        {"port": "t0", "address": "100.64.2.2/30", "vlan": 20},
    ]
    assert {one["layers"][1]["vlan"]["id"] for one in config["tester"]["streams"]} == {10}


def test_a_snake_is_asked_for_all_its_ports():
    testbed = parse(TWO | {"dut": box(*"abcdef", macs=2)}, "x")
    assert testbed.dut.port_names == {f"e{at}": name for at, name in enumerate("abcdef")}
    assert testbed.dut.passes == 3
    assert [port.name for port in testbed.dut.facing] == ["a", "f"]
