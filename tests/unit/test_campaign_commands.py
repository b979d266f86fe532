"""`linerate campaign` as it is read: plans, states, refusals; nothing is measured."""

import json
import stat
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.campaigns import CAMPAIGN, prepared, written

from linerate.experiments.campaign.abilities import Ability
from linerate.experiments.campaign.plan import plan_of
from linerate.experiments.campaign.record import FAILURES_MAX, Record
from linerate.experiments.campaign.state import CampaignStateError, StateFolder
from linerate.experiments.campaign.work_queue import Bench
from linerate.model.campaign import CampaignState
from linerate.report.campaign_progress import progress_line, seconds_left

SCHEDULED = "scheduler: tls://127.0.0.1:8786\ntls: keys\n"


def state(**changed) -> CampaignState:
    now = datetime.now(UTC)
    about = {"name": "nightly", "seed": 1, "started": now, "updated": now, "units": 24}
    return CampaignState.model_validate(about | changed)


def test_a_plan_is_a_table(linerate, tmp_path):
    written(tmp_path)
    done = linerate("campaign", "plan", "campaign.yaml")
    assert done.returncode == 0, done.stderr
    assert "24 units, 24 trials: 2 versions, 2 settings, 1 scenario; 0 have" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    plan = json.loads(linerate("campaign", "plan", "campaign.yaml", "--json").stdout)["result"]
    assert sum(one["units"] for one in plan["testbeds"]) == plan["units"] == 24
    assert plan["impossible"] == []
    assert not (tmp_path / "dataset").exists()


def test_a_plan_says_what_cannot_be_and_why(linerate, tmp_path):
    bed = "testbeds: [{name: lab-a, namespace: nowhere}]\n"
    written(tmp_path, CAMPAIGN.replace("testbeds: [lab-a, lab-b]\n", bed))
    done = linerate("campaign", "plan", "campaign.yaml")
    assert done.returncode == 1
    assert "no network namespace nowhere: ip netns add nowhere" in " ".join(done.stdout.split())


def test_testbeds_of_one_machine_take_turns(tmp_path):
    campaign = prepared(tmp_path)
    one = {name: Ability(testbed=name, host="box") for name in ("lab-a", "lab-b")}
    two = one | {"lab-b": Ability(testbed="lab-b", host="other")}
    turns = plan_of(campaign, one, set()).seconds
    assert turns > plan_of(campaign, two, set()).seconds
    assert turns == pytest.approx(
        sum(part.seconds for part in plan_of(campaign, one, set()).testbeds)
    )
    together = prepared(tmp_path, CAMPAIGN + "together: true\n")
    assert plan_of(together, one, set()).seconds < turns


def test_what_a_testbed_lacks_goes_to_the_other(tmp_path):
    campaign = prepared(tmp_path)
    lacks = Ability(testbed="lab-a", host="box", lacks={"quick io": "no program x"})
    plan = plan_of(campaign, {"lab-a": lacks}, set())
    assert [part.units for part in plan.testbeds] == [0, 24]
    neither = {"lab-a": lacks, "lab-b": lacks.model_copy(update={"testbed": "lab-b"})}
    plan = plan_of(campaign, neither, set())
    assert [one.reason for one in plan.impossible] == ["lab-a: no program x; lab-b: no program x"]
    assert plan.impossible[0].units == 24


def test_what_is_done_is_not_planned_again(tmp_path):
    campaign = prepared(tmp_path)
    done = {unit.key for unit in campaign.units[:20]}
    plan = plan_of(campaign, {}, done)
    assert sum(part.units for part in plan.testbeds) == 4


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("status", "campaign.yaml"), "campaign.yaml: not begun: linerate campaign run"),
        (("stop", "campaign.yaml"), "campaign.yaml: no run goes on"),
        (("worker", "campaign.yaml", "--testbed", "lab-a"), "scheduler: required for a worker"),
        (("scheduler", "campaign.yaml"), "scheduler: required for a scheduler"),
        (("plan", "missing.yaml"), "missing.yaml: no such file or directory"),
        (("run", "missing.yaml"), "missing.yaml: no such file or directory"),
    ],
)
def test_what_can_not_be_is_a_line(linerate, tmp_path, words, line):
    written(tmp_path)
    done = linerate("campaign", *words)
    assert done.returncode in (1, 2)
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://0.0.0.0:8786", "ws://x:1"])
@pytest.mark.parametrize("command", ["scheduler", "run", "plan"])
def test_nothing_listens_or_connects_without_tls(linerate, tmp_path, address, command):
    written(tmp_path, CAMPAIGN + f"scheduler: {address}\ntls: keys\n")
    done = linerate("campaign", command, "campaign.yaml")
    assert done.returncode == 2
    assert f"scheduler: expected tls://HOST:PORT, not '{address}'" in done.stderr


@pytest.mark.parametrize("command", ["scheduler", "run"])
def test_missing_keys_are_named(linerate, tmp_path, command):
    written(tmp_path, CAMPAIGN + SCHEDULED)
    done = linerate("campaign", command, "campaign.yaml")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "keys/ca.pem: no such file: `linerate campaign keys` makes it"
    )


def test_a_worker_owns_a_testbed_of_the_file(linerate, tmp_path):
    written(tmp_path, CAMPAIGN + SCHEDULED)
    done = linerate("campaign", "worker", "campaign.yaml", "--testbed", "lab-x")
    assert done.returncode == 2
    assert "no 'lab-x' in campaign.yaml; expected one of lab-a, lab-b" in done.stderr


def test_keys_are_this_users_alone_and_made_once(linerate, tmp_path):
    assert linerate("campaign", "keys", "keys").returncode == 0
    for path in (tmp_path / "keys").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = (tmp_path / "keys/key.pem").read_bytes()
    again = linerate("campaign", "keys", "keys")
    assert again.returncode == 1
    assert "keys/ca.pem: is there already; remove it to make new keys" in again.stderr
    assert (tmp_path / "keys/key.pem").read_bytes() == before


def test_progress_says_what_is_known():
    now = datetime.now(UTC)
    begun = now - timedelta(minutes=10)
    running = state(status="running", started=begun, done=14, found_done=4, updated=now)
    assert seconds_left(running) == pytest.approx(600)
    assert progress_line(running) == "running: 14 of 24 units (58 %), about 10 min to go"
    silent = running.model_copy(update={"updated": now - timedelta(hours=1)})
    assert progress_line(silent).startswith("killed (`linerate campaign run` goes on)")
    assert progress_line(state(status="finished", done=24)) == "finished: 24 of 24 units (100 %)"


def read(folder):
    kept = folder.read()
    assert kept is not None
    return kept


@pytest.mark.parametrize("url", ["dataset", "memory://campaign-state"])
def test_a_state_is_kept_and_read_again(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    folder = StateFolder(url, "nightly")
    assert folder.read() is None
    assert not folder.stop_asked()
    folder.write(state())
    assert read(folder).seed == 1
    folder.ask_stop()
    assert folder.stop_asked()
    folder.forget_stop()
    folder.forget_stop()
    assert not folder.stop_asked()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"name": 1}'])
def test_a_broken_state_is_a_line(linerate, tmp_path, text):
    written(tmp_path)
    path = tmp_path / "dataset/campaigns/nightly/state.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(text)
    done = linerate("campaign", "status", "campaign.yaml")
    assert done.returncode == 1
    assert "not a campaign's state; move it away" in done.stderr


def test_a_campaign_is_run_once_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path / "locks"))
    folder = StateFolder(str(tmp_path / "dataset"), "nightly")
    other = StateFolder(str(tmp_path / "dataset"), "nightly")
    with (
        folder.held(),
        pytest.raises(CampaignStateError, match="is being run already"),
        other.held(),
    ):
        pass
    folder.write(state(host="elsewhere"))
    with pytest.raises(CampaignStateError, match="being run on elsewhere already"), other.held():
        pass


def test_the_seed_is_drawn_once(tmp_path):
    campaign = prepared(tmp_path)
    folder = StateFolder(campaign.campaign.dataset, "nightly")
    first = Record(folder, campaign, set(), lambda _: None).state.seed
    assert Record(folder, campaign, set(), lambda _: None).state.seed == first
    fixed = prepared(tmp_path, CAMPAIGN + "seed: 7\n")
    assert Record(folder, fixed, set(), lambda _: None).state.seed == 7


def test_a_record_keeps_the_last_failures_and_what_testbeds_do(tmp_path):
    campaign = prepared(tmp_path)
    folder = StateFolder(campaign.campaign.dataset, "nightly")
    seen: list[CampaignState] = []
    record = Record(folder, campaign, set(), seen.append)
    unit = campaign.units[0]
    for number in range(FAILURES_MAX + 5):
        record.nothing(unit, "lab-a", f"no {number}")
    benches = {"lab-a": Bench(owned=True), "lab-b": Bench(aside="3 in a row")}
    for busy, status in (({"lab-a": unit}, "measuring"), ({}, "idle"), ({"lab-a": unit}, "")):
        record.benches(benches, busy)
        assert not status or read(folder).testbeds[0].status == status
    record.benches({"lab-a": Bench(), "lab-b": benches["lab-b"]}, {})
    assert read(folder).testbeds[0].status == "no worker"
    record.benches(benches, {"lab-a": unit})
    kept = read(folder)
    assert len(kept.failures) == FAILURES_MAX
    assert kept.failures[-1].reason == f"no {FAILURES_MAX + 4}"
    assert [(one.name, one.status, one.failed) for one in kept.testbeds] == [
        ("lab-a", "measuring", FAILURES_MAX + 5),
        ("lab-b", "set aside", 0),
    ]
    assert seen[-1] == kept
