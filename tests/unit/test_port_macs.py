"""Frames and neighbours are addressed to what ports have, whatever they were configured with."""

import json

import pytest

from linerate.lab.engine_config import refused_macs, with_macs

OLD, NEW = "02:00:00:00:0e:00", "aa:bb:cc:dd:ee:ff"
OTHER = "50:7c:6f:20:30:70"
ONE = ("bench", "--duration", "1s", "--only", "U2", "--json")


def test_addresses_are_replaced_wherever_they_are_named():
    config = {
        "ports": [{"name": "e0", "mac": OLD}],
        "tester": {
            "streams": [
                {"layers": [{"ethernet": {"src": OTHER, "dst": OLD.upper()}}]},
                {"template": "020000000E00" + "507c6f203070" + "0800" + "020000000e00"},
            ],
            "connections": {"client_macs": {"src": OTHER, "dst": OLD}},
        },
        "forwarder": {"router": {"cli": f"ip neighbor e0 100.64.1.2 {OLD}\n"}, "workers": 1},
    }
    made = with_macs(config, {OLD: NEW})
    layers, template = made["tester"]["streams"]
    assert layers["layers"] == [{"ethernet": {"src": OTHER, "dst": NEW}}]
    # Addresses only: the same digits further on are payload.
    assert template["template"] == "aabbccddeeff" + "507c6f203070" + "0800" + "020000000e00"
    assert made["tester"]["connections"]["client_macs"] == {"src": OTHER, "dst": NEW}
    assert made["forwarder"] == {
        "router": {"cli": f"ip neighbor e0 100.64.1.2 {NEW}\n"},
        "workers": 1,
    }
    assert made["ports"] == [{"name": "e0", "mac": NEW}]
    assert config["ports"] == [{"name": "e0", "mac": OLD}]


def test_exchanged_addresses_are_exchanged_once():
    assert with_macs({"a": OLD, "b": NEW}, {OLD: NEW, NEW: OLD}) == {"a": NEW, "b": OLD}


def test_an_address_is_refused_when_another_one_is_reported():
    config = {"ports": [{"name": "e0", "mac": OLD}, {"name": "t0", "mac": OTHER}]}
    rows = [{"name": "e0", "mac": NEW}, {"name": "t0", "mac": OTHER.upper()}]
    assert refused_macs(config, rows) == {OLD: NEW}


def only_config(folder):
    (path,) = folder.rglob("U2.config.json")
    return json.loads(path.read_text())


def test_streams_are_sent_to_the_address_that_the_engine_reports(linerate, tmp_path):
    done = linerate(*ONE, FAKE_MACS="own")
    assert done.returncode == 0, done.stderr
    config = only_config(tmp_path)
    macs = {port["name"]: port["mac"] for port in config["ports"]}
    assert macs == {
        f"{name}": f"02:00:00:00:00:0{i}" for i, name in enumerate(("e0", "e1", "t0", "t1"))
    }
    (stream,) = config["tester"]["streams"]
    assert stream["layers"][0] == {"ethernet": {"src": macs["t0"], "dst": macs["e0"]}}
    cli = config["forwarder"]["router"]["cli"]
    for here in range(2):
        assert f"ip neighbor e{here} 100.64.{here + 1}.2 {macs[f't{here}']}" in cli


@pytest.mark.parametrize("macs", ["", "own"])
def test_engines_are_started_again_only_for_another_address(linerate, tmp_path, macs):
    counter = tmp_path / "count"
    linerate(*ONE, FAKE_MACS=macs, FAKE_COUNT=str(counter))
    # The ceiling's engine is no more than one: no device receives its frames.
    assert int(counter.read_text()) == (3 if macs else 2)


def test_addresses_that_change_at_each_start_end_the_run_in_one_line(linerate):
    done = linerate(*ONE, FAKE_MACS="random")
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "report other MAC addresses at each start" in line
    assert "devargs" in line
