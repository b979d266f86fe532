"""`linerate top` on a fake engine, driven by its keys."""

import asyncio

import pytest
from tests.schemas import valid_result
from textual.widgets import DataTable, Static

from linerate.engine.engine_process import Engine, Files
from linerate.engine.snapshot import Look, look
from linerate.ui.top.app import TopApp
from linerate.ui.top.change import Change
from linerate.ui.top.views import FIGURE_WIDTH, VIEWS, Order, table, written


@pytest.fixture
def engines(fake_environment, tmp_path):
    """Two fake engines."""
    started = []
    for name in ("one", "two"):
        files = Files(tmp_path / f"{name}.json", tmp_path / f"{name}.log")
        started.append(Engine({"name": name, "tester": {"streams": [STREAM]}}, files))
    with started[0], started[1]:
        yield started


STREAM = {"rate": {"percent": 100}, "frame_bytes": 64}


def run_trial(engine):
    with engine.connect() as telemetry:
        telemetry.ask("/linerate/trial/start,duration_us=100000,scale_ppm=100000")
        while telemetry.ask("/linerate/trial")["state"] != "done":
            pass


def driven(script, take_look=None, engine=None, seconds=3600.0):
    """Run a script of keys against the live view, at 80 columns and 24 lines."""

    async def run():
        app = TopApp(take_look or (lambda flows: look(flows=flows)), seconds, "nodes", engine)
        async with app.run_test(size=(80, 24)) as pilot:
            await app.look_now()
            await script(app, pilot)

    asyncio.run(run())


def text_of(app, widget):
    return str(app.query_one(widget, Static).content)


def rows_of(app):
    shown = app.query_one(DataTable)
    return [[str(cell) for cell in shown.get_row_at(index)] for index in range(shown.row_count)]


def test_keys_choose_the_view(engines):
    async def script(app, pilot):
        for view in VIEWS.values():
            await pilot.press(view.key)
            assert text_of(app, "#head").startswith(view.name.upper())
            titles = [str(column.label) for column in app.query_one(DataTable).ordered_columns]
            assert [title.rstrip("▲▼") for title in titles] == [c.name for c in view.columns]
            for column in app.query_one(DataTable).ordered_columns:
                # With a blank between it and the one before.
                assert len(str(column.label)) < column.width
        await pilot.press("p")
        assert [row[0] for row in rows_of(app)] == ["e0", "e1", "t0", "t1"]

    driven(script)


def test_engines_and_workers_are_chosen(engines):
    async def script(app, pilot):
        assert "1/2  one" in text_of(app, "#head")
        await pilot.press("tab")
        assert "2/2  two" in text_of(app, "#head")
        await pilot.press("tab")
        assert "1/2  one" in text_of(app, "#head")
        everybody = {row[0] for row in rows_of(app)}
        assert everybody >= {"forwarder-0"}
        await pilot.press("w", "w")
        assert "forwarder-0" in text_of(app, "#head").splitlines()[0]
        assert {row[0] for row in rows_of(app)} == {"forwarder-0"}
        await pilot.press("w")
        assert {row[0] for row in rows_of(app)} == everybody

    driven(script)


def test_counters_are_cleared_and_count_again(engines):
    async def script(app, pilot):
        await pilot.press("e")
        assert rows_of(app)[0][:3] == ["forwarder-0", "ip4-lookup", "no route"]
        await pilot.press("c")
        assert rows_of(app) == []
        run_trial(engines[0])
        await app.look_now()
        await pilot.press("s")
        (stream,) = rows_of(app)
        assert stream[0] == "s0"
        assert stream[3] == stream[4] == written(148_810, "count")

    driven(script)


def test_a_pause_stops_looking(engines):
    looks = []

    def take_look(flows):
        looks.append(flows)
        return look(flows=flows)

    async def until(done, pilot):
        while not done():
            await pilot.pause(0.02)

    async def script(app, pilot):
        await asyncio.wait_for(until(lambda: len(looks) > 3, pilot), 60)
        await pilot.press("space")
        assert "PAUSED" in text_of(app, "#head")

        async def none_comes():
            # One may be under way; without a pause thirty would come.
            before = len(looks)
            await pilot.pause(0.3)
            return len(looks) == before

        async def until_none_comes():
            while not await none_comes():
                pass

        await asyncio.wait_for(until_none_comes(), 60)
        before = len(looks)
        await pilot.press("space")
        await asyncio.wait_for(until(lambda: len(looks) > before + 2, pilot), 60)
        assert "PAUSED" not in text_of(app, "#head")

    driven(script, take_look, seconds=0.01)


def test_rows_are_sorted_by_any_column(engines):
    async def script(app, pilot):
        await pilot.press("p", "right")
        assert [row[0] for row in rows_of(app)] == ["t1", "t0", "e1", "e0"]
        await pilot.press("o")
        assert [row[0] for row in rows_of(app)] == ["e0", "e1", "t0", "t1"]
        titles = [str(column.label) for column in app.query_one(DataTable).ordered_columns]
        assert titles[0] == "port▲"

    driven(script)


def test_everything_fits_80_columns():
    for view in VIEWS.values():
        width = sum((column.width or FIGURE_WIDTH) + 1 for column in view.columns)
        # A scroll bar takes two.
        assert width <= 78 or view.name == "flows", view.name


def test_without_engines_it_waits(fake_environment):
    async def script(app, pilot):
        assert "no engine runs" in text_of(app, "#head")
        await pilot.press("tab", "w", "right", "o", "c", "n")
        assert rows_of(app) == []

    driven(script)


def test_an_engine_that_is_gone_makes_room_for_the_next(engines):
    seen = look()

    async def script(app, pilot):
        await app.look_now()
        assert "two" in text_of(app, "#head")

    answers = iter((seen, seen))
    gone = Look({"two": seen.snapshots["two"]})
    driven(script, lambda _flows: next(answers, gone), engine="one")


@pytest.mark.parametrize(
    ("value", "kind", "output"),
    [
        (None, "count", "–"),
        (999_999, "count", "999999"),
        (1_234_567, "count", "1.235M"),
        (14_880_952.4, "rate", "14.88M"),
        (9.9e9, "bits", "9.9G"),
        (0.25, "number", "0.25"),
        (303.64, "number", "303.6"),
        (99.96, "percent", "100.0%"),
        (0.0000123, "seconds", "12.3µs"),
        (0.0123, "seconds", "12.3ms"),
        (18_446_744_073_709_551_615, "count", "1.8e+19"),
    ],
)
def test_figures_are_short(value, kind, output):
    assert written(value, kind) == output
    assert len(output) <= FIGURE_WIDTH


def test_what_has_no_value_comes_last(engines):
    one = look(("one",)).snapshots["one"]
    rows = table(VIEWS["nodes"], Change(one, one), order=Order(4, ascending=True))
    reported = [row[4] is not None for row in rows]
    assert reported == sorted(reported, reverse=True)


def test_one_table_and_json(engines, linerate):
    arguments = ("top", "--engine", "one", "--interval", "0.2s")
    output = linerate(*arguments, "--once").stdout
    assert "forwarder-0 (CPU 1)" in output
    assert all(len(line) <= 80 for line in output.splitlines())
    document = valid_result("top", linerate(*arguments, "--json").stdout)
    assert document["engine"] == "one"
    assert document["seconds"] >= 0.2
    assert set(VIEWS) <= set(document)
    assert document["errors"][0]["reason"] == "no route"


def test_what_is_wrong_is_reported(engines, linerate):
    several = linerate("top", "--once")
    assert (several.returncode, several.stdout) == (1, "")
    assert several.stderr == "linerate: several engines run: say --engine one or two\n"
    assert linerate("top", "--engine", "three", "--once").returncode == 1
    assert linerate("top", "--view", "nonsense").returncode == 2
    assert "no terminal" in linerate("top").stderr
