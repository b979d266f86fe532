"""Profiles of a kernel: figures, and that they limit nothing by themselves."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
FULL_CPU = """\
Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
Average:       0    1.00    0.00    1.00    0.00    0.00   97.00    0.00    0.00    0.00    1.00
"""
SEND = """\
# Samples: 48K of event 'cycles'
# Overhead  Command          Shared Object      Symbol
# ........  ...............  .................  ...............................
    41.20%  ksoftirqd/0      [kernel.kallsyms]  [k] native_queued_spin_lock_slowpath
            |
            ---native_queued_spin_lock_slowpath
               |--40.90%--_raw_spin_lock
               |          __dev_queue_xmit
     9.70%  ksoftirqd/0      [nf_tables]        [k] nft_do_chain
     9.10%  swapper          [nf_tables]        [k] nft_do_chain
     2.00%  vpp_main         libvppinfra.so     [.] clib_memcpy
"""


def sample(name):
    return (DATA / name).read_text()


def shares(evidence):
    return [(one.name, one.percent, one.group) for one in evidence.symbols]


def test_functions_belong_to_parts_of_the_kernel():
    rows = shares(read(sample("perf-report-openwrt.txt")))
    assert rows[:3] == [
        ("ipt_do_table", 9.38, "nft"),
        ("ag71xx_poll", 4.19, "driver"),
        ("dev_hard_start_xmit", 2.68, "qdisc"),
    ]
    assert rows[-1] == ("nf_conntrack_in", 2.41, "conntrack")


#: As the archive of a mailing list saves it (quoted-printable).
SAVED = """\
 PerfTop:    4223 irqs/sec  kernel:96.9%  exact: 100.0% lost: 0/0 drop: =
0/0 [4000Hz cycles],  (target_pid: 1208268)
=
--------------------------------------------------------------------------=
-----------------------------------------------------------

    28.48%  [kernel]        [k] __ipv6_dev_get_saddr
     1.29%  [kernel]                                         [k] =
__netif_receive_skb_core.constprop.0
"""


def test_rows_that_a_mail_broke_are_whole():
    evidence = read(sample("perf-top-pppoe.txt"))
    assert not evidence.unread
    assert len(evidence.symbols) == 12
    assert "its cycles: __ipv6_dev_get_saddr 28 %, fib 13 %" in explain(evidence).sentence
    evidence = read(SAVED)
    assert not evidence.unread
    assert [name for name, *_ in shares(evidence)] == [
        "__ipv6_dev_get_saddr",
        "__netif_receive_skb_core.constprop.0",
    ]


def test_a_function_has_its_own_cycles_without_those_of_what_it_calls():
    rows = {name: percent for name, percent, _ in shares(read(sample("perf-children.txt")))}
    assert rows["iomap_dio_rw"] == 0.01
    assert rows["native_queued_spin_lock_slowpath"] == 74.85


@pytest.mark.parametrize("paste", [lambda text: text, lambda text: text.replace("\n", "\n> ")])
def test_the_same_function_of_several_commands_is_one(paste):
    evidence = read(paste("\n" + SEND))
    assert shares(evidence)[:2] == [
        ("native_queued_spin_lock_slowpath", 41.2, "locks"),
        ("nft_do_chain", 18.8, "nft"),
    ]
    assert not [line for line in evidence.unread if "%" in line.text]


def test_of_two_profiles_the_last_counts_and_events_that_are_no_time_do_not():
    later = SEND.replace("41.20", "31.30").replace("cycles", "cpu-clock")
    assert read(SEND + later).symbols[0].percent == 31.3
    headless = "\n".join(line for line in later.splitlines() if not line.startswith("#"))
    assert read(f"{SEND}\n{headless}").symbols[0].percent == 31.3
    missed = SEND.replace("'cycles'", "'cache-misses'")
    assert read(missed).symbols == ()
    assert read(SEND + missed).symbols[0].percent == 41.2


def test_a_lock_limits_only_beside_a_cpu_that_is_full():
    alone = explain(read(SEND))
    assert alone.limit == "unknown"
    assert "41 % waiting for locks" in alone.sentence
    both = explain(read(SEND + FULL_CPU))
    assert (both.limit, both.also) == ("lock", ("worker-cpu",))
    assert "native_queued_spin_lock_slowpath" in both.sentence
    less = explain(read(SEND.replace("41.20", "20.20") + FULL_CPU))
    assert less.limit == "worker-cpu"
    assert "nft 19 %" in less.sentence


STAT = """\
 Performance counter stats for 'CPU(s) 3':

          5,000.12 msec cpu-clock                 #    1.000 CPUs utilized
    12,345,678,901      cycles                    #    2.469 GHz                      (83.31%)
     6,789,012,345      instructions              #    0.55  insn per cycle           (83.33%)
         1,234,567      cache-misses              #   12.346 % of all cache refs      (83.36%)
   <not supported>      stalled-cycles-frontend

       5.000987654 seconds time elapsed
"""


@pytest.mark.parametrize("text", [STAT, "\n".join(collapse_blanks(STAT.splitlines()))])
def test_perf_stat_is_read_and_limits_nothing(text):
    evidence = read(text)
    assert not evidence.unread
    verdict = explain(evidence)
    assert verdict.limit == "unknown"
    assert "CPU(s) 3 ran 0.55 instructions a cycle" in verdict.sentence
