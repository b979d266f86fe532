"""Laws of pasted text: however it is pasted, no limit turns into another.

It may turn into `unknown`, or be refused, where a part is missing.
"""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tests.published.cases import cases

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_files
from linerate.parsers.text import TextError

HOST = Path(__file__).parents[1] / "data" / "pasted_host"
#: Samples of a host's own tools, each of a kind that has a limit.
SAMPLES = ("tc-class.txt", "iptables-docker.txt")
LIVE = Path(__file__).parents[1] / "data" / "cases" / "vpp-memif"
PASTED = LIVE.parents[1] / "pasted"
#: Threads, a card and a tester of DPDK's world.
DATA_PLANES = ("ovs-pmd-rxq.txt", "dpdk-telemetry-knet.txt", "pktgen-loopback.txt")
#: Outputs that say nothing of packets.
UNRELATED = (
    "Linux box 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian x86_64 GNU/Linux\n",
    "Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1        20G  7.1G   12G  38% /\n",
    " 22:13:00 up 16:52,  0 user,  load average: 0.08, 0.27, 1.78\n",
)


def readings():
    """Texts by case: those of a live VPP, published ones to develop with, a few samples."""
    found = {case.name: [file.read_text() for file in case.files] for case in cases("develop")}
    names = sorted({path.name.partition(".")[0] for path in LIVE.glob("*.txt")})
    live = {name: [one.read_text() for one in sorted(LIVE.glob(f"{name}.*"))] for name in names}
    samples = {name: [(HOST / name).read_text()] for name in SAMPLES}
    samples |= {name: [(PASTED / name).read_text()] for name in DATA_PLANES}
    return found | live | samples


READINGS = readings()


def limit_of(texts):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(texts):
            paths.append(Path(folder, f"{number}.txt"))
            paths[-1].write_text(text)
        try:
            return explain(evidence_of_files(paths)).limit
        except TextError:
            return "refused"


KNOWN = {name: limit_of(texts) for name, texts in READINGS.items()}
JUDGED = sorted(name for name, limit in KNOWN.items() if limit not in ("refused", "unknown"))


def quoted(text):
    return "\n".join(f"> {line}" for line in text.splitlines()) + "\n"


def dressed(text, data):
    """A text as it may reach a reader."""
    if data.draw(some.booleans(), "quoted"):
        text = quoted(text)
    if data.draw(some.booleans(), "CRLF"):
        text = text.replace("\n", "\r\n")
    if data.draw(some.booleans(), "a greeting"):
        text = f"Hi all,\n\nthis is what I see:\n\n{text}\n\nThanks!\n"
    return text


@pytest.mark.parametrize("name", JUDGED)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=some.data())
def test_another_way_to_paste_is_the_same_verdict(name, data):
    texts = [dressed(text, data) for text in READINGS[name]]
    texts += data.draw(some.lists(some.sampled_from(UNRELATED), max_size=2))
    assert limit_of(data.draw(some.permutations(texts))) == KNOWN[name]


@pytest.mark.parametrize("name", JUDGED)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=some.data())
def test_a_cut_text_is_no_other_limit(name, data):
    """The head of one of the texts is missing, or its end."""
    texts = list(READINGS[name])
    which = data.draw(some.integers(0, len(texts) - 1))
    lines = texts[which].splitlines(keepends=True)
    at = data.draw(some.integers(0, len(lines)))
    texts[which] = "".join(lines[at:] if data.draw(some.booleans()) else lines[:at])
    assert limit_of(texts) in (KNOWN[name], "unknown", "refused", *_LESS.get(KNOWN[name], ()))


#: Limits that say where and not why, where the rest is cut off.
_LESS = {"worker-cpu": ("rx-ring", "handoff-ring"), "line": ("none",)}


@pytest.mark.parametrize(
    ("row", "limit"),
    [
        ("  2000000            e0-tx            no free tx slots            error\n", "tx-ring"),
        (
            "  2000000          null-node         blackholed packets          error\n",
            "configuration",
        ),
        (
            "  2000000          ip4-input           ip4 ttl <= 1              error\n",
            "configuration",
        ),
        ("      200            e0-tx            no free tx slots            error\n", "none"),
    ],
)
def test_a_loss_turns_a_clean_reading_into_its_limit(row, limit):
    names = sorted(LIVE.glob("d-idle10.*"))
    texts = [one.read_text() + row * ("errors" in one.name) for one in names]
    assert limit_of(texts) == limit


@pytest.mark.parametrize(
    ("text", "more", "limit"),
    [
        (
            "qdisc tbf 1: dev eth0 root refcnt 2 rate 10Mbit burst 4Kb lat 400.0ms\n"
            " Sent 100000 bytes {sent} pkt (dropped {lost}, overlimits 900 requeues 0)\n",
            {"sent": 9000, "lost": 1000},
            "shaper",
        ),
        (
            "Chain FORWARD (policy ACCEPT {sent} packets, 0 bytes)\n pkts bytes target prot opt in"
            " out source destination\n {lost} 0 DROP all -- * * 0.0.0.0/0 0.0.0.0/0\n",
            {"sent": 9000, "lost": 1000},
            "configuration",
        ),
        (
            "#kernel\nIpInReceives {sent} 0.0\nIpInAddrErrors {lost} 0.0\n",
            {"sent": 9000, "lost": 1000},
            "configuration",
        ),
        (
            "@[NETFILTER_DROP]: {lost}\n@[QDISC_DROP]: 1\n",
            {"lost": 1000},
            "configuration",
        ),
    ],
    ids=["tc", "iptables", "nstat", "reasons"],
)
def test_a_loss_that_is_counted_is_judged_by_its_share(text, more, limit):
    """A thousandth or less is noted; ten times as many packets change no limit."""
    assert limit_of([text.format(**more)]) == limit
    assert limit_of([text.format(**(more | {"lost": 0}))]) in ("unknown", "refused")
    assert limit_of([text.format(**(more | {"lost": 9}))]) == "unknown"
    tenfold = {name: 10 * value for name, value in more.items()}
    assert limit_of([text.format(**tenfold)]) == limit
