"""PAUSE frames and settings of ports, in doubts and verdicts."""

import pytest
import yaml
from pydantic import ValidationError

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import doubts
from linerate.model.testbed import Port

SAID = "t0: 1,234 PAUSE frames received"


@pytest.mark.parametrize("frames", [0, 1234])
def test_a_device_that_pushes_back_is_named(evidence, frames):
    measured = evidence().model_copy(update={"ports": {"t0": {"rx_pause": frames}}})
    message = [doubt for doubt in doubts(measured) if SAID in doubt]
    quotes = [
        quote.text
        for quote in explain(evidence_of(measured, "x", "evidence/x.json")).evidence
        if SAID in quote.text
    ]
    assert len(message) == len(quotes) == (1 if frames else 0)


def test_ports_of_a_testbed_file_say_how_they_are_set():
    flow_control = "{device: net_null0, flow_control: %s, max_frame_bytes: 9218}"
    for word in ("off", "rx", "tx", "full"):
        port = Port.model_validate(yaml.safe_load(flow_control % word))
        assert (port.flow_control, port.max_frame_bytes) == (word, 9218)
    with pytest.raises(ValidationError):
        Port.model_validate(yaml.safe_load(flow_control % "yes"))
