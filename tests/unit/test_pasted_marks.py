"""Marks that mails, trackers and web pages put around what a command printed."""

import json

import pytest

from linerate.parsers.text import clean, text_of


@pytest.mark.parametrize(
    ("pasted", "printed"),
    [
        (" <tt>host-a 9 up rx packets 48829</tt>", " host-a 9 up rx packets 48829"),
        (" {{ rx bytes 5170889}}", " rx bytes 5170889"),
        ("{noformat}drops 14{noformat}", "drops 14"),
        ("{code:none}drops 14", "drops 14"),
        ("a -&gt; b &amp; c", "a -> b & c"),
        ("a < b", "a < b"),
    ],
)
def test_markup_is_taken_away(pasted, printed):
    assert clean(pasted) == printed


@pytest.mark.parametrize("document", [{"a": {"b": {"c": 1}}}, {"a": [{"b": {}}]}])
def test_json_stays(document):
    text = json.dumps(document, separators=(",", ":"))
    assert clean(text) == text


def test_quotes_of_bars_are_taken_away_and_tables_stay():
    quoted = "|rx_packets: 5 |x\n|rx_packets: 5\n|tx_packets: 6\n"
    assert [line.text for line in text_of(quoted, "x").lines][:3] == [
        "|rx_packets: 5 |x",
        "rx_packets: 5",
        "tx_packets: 6",
    ]
    table = "| port | rx |\n| 0 | 5 |"
    assert [line.text for line in text_of(table, "x").lines] == table.splitlines()
