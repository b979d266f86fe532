"""Traffic profiles: names, genomes, YAML, and rates that are exact."""

import contextlib
import string
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from linerate.base.line_rate import FRAME_BYTES_MAX, l1_bits
from linerate.base.published import KINDS
from linerate.cli.traffic_options import complete_traffic
from linerate.model.suites import DUT_MACS, TESTER_MACS, streams
from linerate.model.testbed import Testbed
from linerate.traffic import TrafficError, complete, find, loadtest_of, offered_by, parse_rate
from linerate.traffic.genome import LETTERS, sequence
from linerate.traffic.link_mtu import check_carried
from linerate.traffic.profile import Profile

LINK = 10**10
EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "traffic").glob("*.yaml"))


def written(folder, text, name="mine.yaml"):
    file = folder / name
    file.write_text(text)
    return str(file)


def of_side(loadtest, side):
    return [one for one in loadtest.traffic.offered.streams if one.side == side]


def test_imix_is_seven_four_one():
    profile = find("imix")
    one_way = [stream for stream in profile.streams if stream["port"] == 0]
    assert [(s["frame_bytes"], s["weight"]) for s in one_way] == [(64, 7), (594, 4), (1518, 1)]
    loadtest = offered_by("imix", Testbed())
    assert loadtest.directions == 2
    assert loadtest.traffic.frame_bytes == pytest.approx((7 * 64 + 4 * 594 + 1518) / 12)
    assert loadtest.full_pps(LINK) == pytest.approx(loadtest.line_pps(LINK))


@pytest.mark.parametrize("name", complete("imix")[:-1])
def test_every_named_mix_fills_the_line_and_no_more(name):
    loadtest = offered_by(name, Testbed())
    for side in (0, 1):
        bps = sum(Fraction(s.pps) * l1_bits(s.frame_bytes) for s in of_side(loadtest, side))
        assert LINK * (1 - 1e-12) < bps <= LINK


def test_a_size_is_a_profile():
    assert offered_by("1518", Testbed()).traffic.frame_bytes == 1518
    assert complete("12") == ["128", "1280"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "expected a name"),
        ("63", "64 to 9728"),
        ("imix-genome:", "expected letters"),
        ("imix-genome:aaq", "letters a to j"),
        ("imix-genome:aaz", "MTU must be given"),
        ("imix-genome:aaB", "imix-genome:B=90"),
        ("imix-genome:j", "not 16000"),
        ("imix-genome:a=90:a", "capital letter"),
        ("imix-genome:70000a", "65,536"),
        ("absent.yaml", "absent.yaml: no such file"),
        ("absent.pcap", "absent.pcap: "),
    ],
)
def test_what_is_no_profile_is_reported_in_one_line(text, message):
    with pytest.raises(TrafficError, match=message) as caught:
        find(text)
    assert "\n" not in str(caught.value)


def test_a_genome_keeps_its_order():
    profile = find("imix-genome:aaafg")
    places = {
        stream["frame_bytes"]: stream["places"] for stream in profile.streams if stream["port"] == 1
    }
    assert places == {64: [0, 1, 2], 1280: [3], 1518: [4]}
    assert sequence("imix-genome:2{ab}c") == [64, 128, 64, 128, 256]
    assert sequence("imix-genome:A=90,z=9018:3Az") == [90, 90, 90, 9018]


@given(st.text(alphabet=string.ascii_letters + string.digits + "{}=:,", max_size=24))
def test_no_genome_raises_anything_else(text):
    with contextlib.suppress(TrafficError):
        assert 1 <= len(sequence(f"imix-genome:{text}")) <= 65536


@given(
    st.lists(st.tuples(st.integers(1, 9), st.text("abcdefg", min_size=1, max_size=5)), min_size=1)
)
def test_run_lengths_say_what_they_repeat(parts):
    folded = "".join(f"{count}{{{letters}}}" for count, letters in parts)
    whole = "".join(count * letters for count, letters in parts)
    assert sequence(f"imix-genome:{folded}") == [LETTERS[letter] for letter in whole]


def profile_of(mix):
    return Profile(
        "made",
        "made",
        tuple({"port": side, "frame_bytes": size, "weight": n} for side, size, n in mix),
    )


MIX = st.lists(
    st.tuples(st.integers(0, 1), st.integers(64, FRAME_BYTES_MAX), st.integers(1, 10**4)),
    min_size=1,
    max_size=40,
)


@given(MIX, st.integers(1, 10**5), st.integers(10**6, 4 * 10**11))
@settings(deadline=None)
def test_no_side_is_above_its_share_of_the_line(mix, thousandths, link_bps):
    rate = parse_rate(f"{thousandths / 1000:.3f}%")
    loadtest = loadtest_of(profile_of(mix), rate, None, link_bps)
    allowed = Fraction(link_bps) * thousandths / 100_000
    busiest = max(
        sum(Fraction(s.pps) * l1_bits(s.frame_bytes) for s in of_side(loadtest, side))
        for side in (0, 1)
    )
    assert allowed * (1 - Fraction(1, 10**12)) < busiest <= allowed


@given(MIX)
@settings(deadline=None)
def test_shares_are_the_weights(mix):
    loadtest = loadtest_of(profile_of(mix), parse_rate("100%"), None, LINK)
    offered = loadtest.traffic.offered
    assert offered is not None
    first = offered.streams[0]
    for (_, _, weight), stream in zip(mix, offered.streams, strict=True):
        assert stream.pps / first.pps == pytest.approx(weight / mix[0][2], rel=1e-12)
    mean = sum(n * size for _, size, n in mix) / sum(n for _, _, n in mix)
    assert loadtest.traffic.frame_bytes == pytest.approx(mean)


@pytest.mark.parametrize(
    ("rate", "pps"),
    [
        ("5mpps", 5e6),
        ("1gbps", 1e9 / (84 * 8)),
        ("1gbpsl2", 1e9 / (64 * 8)),
        ("50%", LINK / 2 / (84 * 8)),
    ],
)
def test_rates_are_of_the_busier_direction(rate, pps):
    loadtest = offered_by("64", Testbed(), rate)
    assert loadtest.full_pps(LINK) == pytest.approx(2 * pps)
    assert offered_by("64", Testbed(), rate, 1).full_pps(LINK) == pytest.approx(pps)


@pytest.mark.parametrize("rate", ["", "fast", "0%", "101%", "-1x", "5", "15mpps", "11gbps", "1x"])
def test_rates_that_cannot_be_are_refused(rate):
    with pytest.raises(TrafficError, match=r"^rate: "):
        loadtest_of(find("64"), parse_rate(rate), None, LINK)


def test_frames_that_no_wire_carries_are_refused(tmp_path):
    """Before anything is started; a card with a lower limit drops them and counts it."""
    veth = Testbed(wire="veth")
    assert offered_by("1518", veth)
    assert offered_by("9728", Testbed(card={"max_frame_bytes": 9728}))
    assert offered_by("imix-genome:aai", Testbed())
    with pytest.raises(TrafficError, match=r"card takes 1522, .* try --card max_frame=9000"):
        offered_by("9000", Testbed())
    tagged = "{frame_bytes: %d, layers: [{vlan: {}}, {vlan: {}}, {ipv4: {}}, {udp: {}}]}"
    for size, carried in ((1526, True), (1527, False)):
        profile = written(tmp_path, f"streams: [{tagged % size}]")
        if carried:
            assert offered_by(profile, veth)
        else:
            with pytest.raises(
                TrafficError, match=r"^traffic 'mine': frames of 1519 bytes; wire veth"
            ):
                offered_by(profile, veth)
    with pytest.raises(TrafficError, match="wire memif carries 1518"):
        offered_by("imix-genome:aai", Testbed(wire="memif"))


OURS = """
streams:
  - name: dns
    frame_bytes: 90
    rate: {pps: 3000}
    layers: [{ipv4: {src: 16.0.0.1, dst: 48.0.0.1}}, {udp: {dst: 53}}]
    modifiers: [{field: udp.src, op: random, min: 1024, max: 65535}]
  - name: web
    frame_bytes: 1518
    rate: {l2_bps: 100000000}
    layers: [{ethernet: {dst: "02:00:00:00:00:09"}}, {ipv4: {}}, {tcp: {dst: 443}}]
"""


def cut_to(**sizes):
    """A stream of 1400-byte templates that a program cuts."""
    size = {"name": "size", "bytes": 2, "op": "random"} | sizes
    program = {"variables": [size], "steps": [{"trim": {"variable": "size"}}]}
    return {"template": "00" * 1400, "program": program, "rate": {"l1_bps": 8e6}}


@pytest.mark.parametrize("sizes", [{"min": 64, "max": 1401}, {"values": [1401, 700, 64]}])
def test_frames_that_are_cut_fill_the_line_by_their_mean(sizes):
    profile = Profile("cut", "cut", (cut_to(**sizes),))
    loadtest = loadtest_of(profile, parse_rate("100%"), None, LINK)
    assert loadtest.traffic.frame_bytes == 736.5
    assert loadtest.full_pps(LINK) == pytest.approx(LINK / ((736.5 + 20) * 8))
    assert loadtest.full_pps(LINK) == pytest.approx(loadtest.line_pps(LINK))
    own = loadtest_of(profile, parse_rate("1x"), None, LINK)
    assert own.full_pps(LINK) == pytest.approx(1e6 / (736.5 + 20))
    longer = cut_to(**sizes) | {"template": "00" * 1600}
    with pytest.raises(TrafficError, match="frames of 1604 bytes"):
        check_carried(Profile("cut", "cut", (longer,)), Testbed(wire="veth"))


def test_streams_of_yaml_get_ports_and_addresses(tmp_path):
    loadtest = offered_by(written(tmp_path, OURS), Testbed(), "1x", 2)
    made = {one["name"]: one for one in streams(loadtest, DUT_MACS, {"percent": 100})}
    assert list(made) == ["dns", "web", "dns-back", "web-back"]
    assert made["dns"]["rate"] == {"pps": 3000}
    assert made["web"]["rate"]["pps"] == pytest.approx(1e8 / (1518 * 8))
    assert (made["dns"]["port"], made["dns"]["rx_port"]) == ("t0", "t1")
    own = {"src": TESTER_MACS[0], "dst": DUT_MACS[0]}
    assert made["dns"]["layers"][0] == {"ethernet": own}
    assert made["web"]["layers"][0]["ethernet"]["dst"] == "02:00:00:00:00:09"
    back = made["dns-back"]
    assert back["port"] == "t1"
    assert back["layers"][1]["ipv4"] == {"src": "48.0.0.1", "dst": "16.0.0.1"}
    assert back["modifiers"][0]["field"] == "udp.dst"
    bare = streams(loadtest, DUT_MACS, {"max": True})
    assert all(one["rate"] == {"max": True} and 1 <= one["weight"] <= 1000 for one in bare)


def test_own_rates_scale_together(tmp_path):
    file = written(tmp_path, OURS)
    once, whole = (offered_by(file, Testbed(), rate).traffic.offered for rate in ("1x", "100%"))
    assert once is not None
    assert whole is not None
    ratios = [a.pps / b.pps for a, b in zip(whole.streams, once.streams, strict=True)]
    assert ratios[0] == pytest.approx(ratios[1])
    with pytest.raises(TrafficError, match="of the line; expected at most 100%"):
        offered_by(file, Testbed(), "100000x")


@pytest.mark.parametrize("idle", [(), ({"port": 0, "rate": {"pps": 0}},)])
def test_one_side_is_one_link_whichever_it_is(idle):
    stream = {"port": 1, "layers": [{"ipv4": {}}, {"udp": {}}], "rate": {"pps": 5}}
    profile = Profile("back", "back", (*idle, stream))
    loadtest = loadtest_of(profile, parse_rate("100%"), None, LINK)
    assert loadtest.links == 1
    assert loadtest.text.endswith("one direction")
    assert loadtest.full_pps(LINK) == pytest.approx(loadtest.line_pps(LINK))
    (sent,) = streams(loadtest, DUT_MACS, {"percent": 100})
    assert (sent["port"], sent["rx_port"]) == ("t1", "t0")


@pytest.mark.parametrize(("rate", "faster"), [("0.1x", 0.1), ("1x", 1), ("2x", 2), ("5kpps", 5)])
def test_bursts_and_starts_scale_with_rates(rate, faster):
    """The second begins when the first is through, whatever the rate."""
    made = {"frame_bytes": 64, "layers": [{"ipv4": {}}, {"udp": {}}], "rate": {"pps": 500}}
    first = made | {"name": "first", "bursts": {"frames": 10, "count": 1, "gap_us": 0}}
    bursts = {"frames": 1, "count": 3, "gap_us": 300}
    second = made | {"name": "second", "start_us": 18000, "bursts": bursts}
    loadtest = loadtest_of(Profile("two", "two", (first, second)), parse_rate(rate), None, LINK)
    one, other = streams(loadtest, DUT_MACS, {"percent": 100})
    assert one["bursts"] == first["bursts"]
    assert other["rate"]["pps"] == pytest.approx(500 * faster)
    assert other["start_us"] == pytest.approx(9 * 1e6 / one["rate"]["pps"])
    assert other["bursts"] == bursts | {"gap_us": pytest.approx(300 / faster)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frame_bytes": 60}, "streams.0.frame_bytes: expected 64 or more, not 60"),
        ({"colour": 1}, "streams.0.colour: no such key"),
        ({"rate": {"pps": 1, "percent": 1}}, "streams.0.rate: expected exactly one of"),
        ({"layers": [{"udp": {}, "tcp": {}}]}, "streams.0.layers.0: expected one header"),
        ({"layers": [{"udp": {"dst": 70000}}]}, "layers.0.udp.dst: expected 65535 or less"),
        ({"flows": {"count": 0}}, "streams.0.flows.count: expected 1 or more"),
        ({"port": 2}, "streams.0.port: expected 0 or 1"),
        ({"weight": 3}, "streams.0: weight, rate: expected one of the two"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path, change, message):
    document = yaml.safe_load(OURS)
    document["streams"][0] |= change
    file = written(tmp_path, yaml.safe_dump(document))
    with pytest.raises(TrafficError) as caught:
        find(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_streams_with_and_without_rates_are_not_mixed(tmp_path):
    document = yaml.safe_load(OURS)
    del document["streams"][0]["rate"]
    with pytest.raises(TrafficError, match="some only a weight"):
        offered_by(written(tmp_path, yaml.safe_dump(document)), Testbed())


def test_names_of_thousands_of_streams_differ():
    many = Profile(
        "many", "many", tuple({"name": "x" * 60, "frame_bytes": 64} for _ in range(4096))
    )
    loadtest = loadtest_of(many, parse_rate("100%"), None, LINK)
    assert loadtest.traffic.offered is not None
    names = {stream.name for stream in loadtest.traffic.offered.streams}
    assert len(names) == 4096
    assert max(map(len, names)) <= 47


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["udp", "udp-2", "udp", "udp-2"], ["udp", "udp-2", "udp-3", "udp-2-2"]),
        ([None, None, "stream-1"], ["stream-0", "stream-1", "stream-1-2"]),
        (["a", "a-latency", "a-latency-latency"], ["a", "a-latency-2", "a-latency-latency"]),
        (["b-latency", "b"], ["b-latency", "b-2"]),
    ],
)
def test_names_count_on_until_one_is_free(given, named):
    profile = Profile("some", "some", tuple({"name": name} for name in given))
    offered = loadtest_of(profile, parse_rate("100%"), None, LINK).traffic.offered
    assert offered is not None
    assert [stream.name for stream in offered.streams] == named


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_documented_examples_load_and_keep_to_the_schema(file):
    document = yaml.safe_load(file.read_text())
    if "pcap" not in document:
        assert offered_by(str(file), Testbed()).full_pps(LINK) > 0
    schema = KINDS["traffic"].schema()
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"more": 1}, schema)


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


def test_the_manual_has_the_annotated_example_as_it_is():
    page = (EXAMPLES[0].parent.parent / "traffic.md").read_text()
    assert (EXAMPLES[0].parent / "office.yaml").read_text() in page


def test_names_and_files_complete(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    for name in ("mine.yaml", "mine.txt", "im.pcap", ".hidden.yaml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert complete_traffic("imix-t") == ["imix-tcp", "imix-tolly"]
    assert complete_traffic("im")[-1] == "im.pcap"
    assert complete_traffic("mi") == ["mine.yaml"]
    assert complete_traffic("s") == ["sub/"]
    assert complete_traffic(f"{tmp_path}/mi") == [f"{tmp_path}/mine.yaml"]
