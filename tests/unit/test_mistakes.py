"""Expected values are reported for each text: not for all that they are names."""

import json

import pytest

from linerate.base.validation import _EXPECTED_TEXT
from linerate.model import testbed
from linerate.traffic import TrafficError, find
from linerate.traffic.native_profile import Document

LAYER = """
streams:
- name: a
  frame_bytes: 64
  rate: {{percent: 1}}
  layers: [{layer}]
"""


def patterns(node):
    """Patterns anywhere in a JSON schema."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from [value] if key == "pattern" and isinstance(value, str) else patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns(value)


@pytest.mark.parametrize(
    "document", [Document.model_json_schema(), testbed.Testbed.model_json_schema()]
)
def test_every_pattern_of_a_file_has_words(document):
    found = set(patterns(json.loads(json.dumps(document))))
    assert found
    assert found <= set(_EXPECTED_TEXT)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("{ipv4: {src: x, dst: 1.2.3.4}}", "ipv4.src: expected an IP address, not 'x'"),
        (
            "{ethernet: {src: 02-00-00-00-00-01}}",
            "ethernet.src: expected a MAC address as 02:00:00:00:0e:00, not '02-00-00-00-00-01'",
        ),
    ],
)
def test_an_address_is_no_name(tmp_path, layer, text):
    path = tmp_path / "traffic.yaml"
    path.write_text(LAYER.format(layer=layer))
    with pytest.raises(TrafficError) as caught:
        find(str(path))
    assert str(caught.value) == f"{path}: streams.0.layers.0.{text}"


def test_a_socket_is_a_path():
    with pytest.raises(testbed.TestbedError) as caught:
        testbed.parse({"wire": "memif", "tester": {"sockets": ["a b", "c"]}}, "bed.yaml")
    assert "sockets.0: expected a path of 1 to 107 bytes without blanks and commas, not 'a b'" in (
        str(caught.value)
    )
