"""Rates of interfaces: a second's packets, and counters that jumped."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
DEV = """\
Linux 6.1.0-25-amd64 (box) \t11/24/26 \t_x86_64_\t(2 CPU)

10:15:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
10:15:02         eth0 900000.00   1000.00  56250.00    100.00      0.00      0.00      0.00     46.08
Average:         eth0 800000.00   1000.00  50000.00    100.00      0.00      0.00      0.00     40.96

10:15:01        IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s
Average:         eth0      0.00      0.00      0.00      0.00      0.00      0.00      0.00 {fifo}      0.00
"""


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(one.place, one.cause, one.packets, one.offered) for one in evidence.losses]


@pytest.mark.parametrize(
    "paste",
    [
        lambda text: text,
        lambda text: "\n".join(collapse_blanks(text.splitlines())),
        lambda text: "\n".join(lose_indent(text.splitlines())),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: text.replace(".00", ",00"),
    ],
    ids=["whole", "blanks", "indent", "mail", "commas"],
)
def test_the_average_counts_and_a_full_ring_says_where(paste):
    evidence = read(paste(DEV.format(fifo="200000.00")))
    (port,) = evidence.ports
    assert (port.name, port.rx_pps, port.rx_packets) == ("eth0", 800_000, 800_000)
    assert losses(evidence) == [("eth0: rx fifo, in a second", "rx-ring", 200_000, 1_000_000)]
    assert not evidence.unread
    verdict = explain(evidence)
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "why is open" in verdict.sentence
    few = explain(read(paste(DEV.format(fifo="20.00"))))
    assert few.limit == "unknown"


def test_a_rate_that_no_link_carries_is_a_doubt():
    jumped = DEV.format(fifo="0.00").replace("900000.00", "1005924595.60")
    evidence = read(jumped)
    assert evidence.ports[0].rx_pps == 800_000
    assert ["jumped" in doubt.text for doubt in evidence.doubts] == [True]
    above = read(DEV.format(fifo="0.00").replace("40.96", "172.44"))
    assert "above the whole link" in above.doubts[0].text
    assert explain(above).limit == "unknown"


def test_errors_alone_and_ifstat():
    assert losses(read(sample("sar-edev.txt"))) == [
        ("eth0: rx dropped, in a second", "other", 2, None)
    ]
    evidence = read(sample("ifstat.txt"))
    assert [(port.name, port.rx_bytes) for port in evidence.ports] == [
        ("eno1", round(71308.34 * 1024)),
        ("enp189s0f0", round(0.18 * 1024)),
    ]
    assert explain(evidence).limit == "unknown"


IRQS = """\
 64:   18264909          0   PCI-MSI 2625537-edge      enp5s0f2-TxRx-0
 65:          0   17995682   PCI-MSI 2625538-edge      enp5s0f2-TxRx-1
"""


def test_interrupts_without_the_heading():
    for text in (IRQS, IRQS.replace(" 6", "/proc/interrupts: 6")):
        found = [(one.cpu, one.name, one.counters["interrupts"]) for one in read(text).cpus]
        assert found == [
            (0, "64: enp5s0f2-TxRx-0", 18264909),
            (1, "65: enp5s0f2-TxRx-1", 17995682),
        ]
    assert read("12:  10 20 30 green bottles\n") is None


def test_columns_that_were_cut_from_softnet_stat():
    columns = "0000aaaa 00000005 00000003\n0000bbbb 00000000 00000000\n"
    evidence = read(f"$ cut -d' ' -f1-3 /proc/net/softnet_stat\n{columns}")
    assert losses(evidence) == [("softnet backlog of CPU 0", "rx-ring", 5, None)]
    assert read(columns) is None
