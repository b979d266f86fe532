"""Latency between two readings of streams that count on."""

from linerate.base import histogram
from linerate.model.measurement.latency import StreamLatency, latency_since


def stream(values, disturbed=(), name="s"):
    made = {}
    for key, ns in (("histogram", values), ("disturbed_histogram", disturbed)):
        whole = histogram.from_buckets(())
        for value in ns:
            whole.record_value(value)
        made[key] = histogram.to_text(whole) if ns else ""
    return StreamLatency(
        stream=name, port="t0", rx_port="t1", count=len(values), min_ns=min(values, default=0),
        max_ns=max(values, default=0), sum_ns=sum(values), jitter_sum_ns=10 * len(values),
        jitter_count=max(0, len(values) - 1), disturbed=len(disturbed),
        disturbed_max_ns=max(disturbed, default=0), **made,
    )  # fmt: skip


def test_what_a_stream_had_before_is_taken_away():
    before, after = stream([1000, 5000]), stream([1000, 5000, 2000, 3000, 3000], [9000])
    (found,) = latency_since([after], [before])
    assert (found.count, found.sum_ns, found.jitter_count, found.disturbed) == (3, 8000, 3, 1)
    # Exact to three digits: the least and the highest of all are others'.
    assert 1990 < found.min_ns <= 2010
    assert 2980 < found.max_ns <= 3010
    assert histogram.from_text(found.histogram).total_count == 3
    assert found.disturbed_max_ns == 9000


def test_a_new_highest_is_exact():
    (found,) = latency_since([stream([1000, 12345, 17])], [stream([1000])])
    assert (found.min_ns, found.max_ns) == (17, 12345)


def test_a_stream_that_is_new_or_was_loaded_anew_has_all_that_it_has():
    new, loaded = stream([7000], name="new"), stream([8000])
    assert latency_since([new, loaded], [stream([1, 2, 3])]) == (new, loaded)


def test_a_stream_that_sent_nothing_since():
    same = stream([1000, 5000], [9000])
    (found,) = latency_since([same], [same])
    assert (found.count, found.min_ns, found.max_ns, found.histogram) == (0, 0, 0, "")
    assert (found.disturbed, found.disturbed_max_ns) == (0, 0)
