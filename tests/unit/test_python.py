"""The Python interface: runs by name, tables, displays, and the example notebook."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import linerate as lr
from linerate.base.errors import UserError

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "data" / "runs-0.1"
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))


def test_importing_it_loads_nothing():
    program = "import sys; import linerate; print(*(n for n in sys.modules if 'linerate' in n))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["linerate"]


def test_the_stub_has_every_name():
    stub = ast.parse((ROOT / "src" / "linerate" / "__init__.pyi").read_text())
    named = {
        name.asname for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assert named | {"__version__"} == set(lr.__all__)
    assert all(getattr(lr, name) for name in lr.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'benhc'"):
        lr.benhc  # type: ignore[attr-defined]  # noqa: B018


def test_five_lines(fake_environment, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_DUT_PPS", "5e6")
    monkeypatch.chdir(tmp_path)
    run = lr.bench(dut="io", only=["U2", "B2"], duration=1, repeat=2)
    assert list(run) == ["U2", "B2"]
    assert run["U2"].received_pps == pytest.approx(5e6, rel=0.05)
    assert len(run.repeats["U2"]) == 2
    assert run.folder.parent.name == "runs"
    with pytest.raises(KeyError, match="U3: not measured; there are U2, B2"):
        run["U3"]
    found = lr.search(dut="io", loadtest="U2")
    assert found.ndr_pps == found["U2"].ndr_pps == pytest.approx(5e6, rel=0.01)


def test_what_can_not_be_measured_has_a_reason(fake_environment, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="expected"):
        lr.bench(dut="no-such-mode")
    assert "no-such-mode" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_tables_are_relations():
    run = lr.load(RUNS / "base")
    assert isinstance(run, lr.BenchRun)
    rows = run.table("results").select("test", "received_pps").fetchall()
    assert dict(rows)["U2"] == run["U2"].received_pps
    with pytest.raises(KeyError, match="no such table; expected one of runs, results"):
        run.table("result")


def test_pandas_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setattr("linerate.api.runs.find_spec", lambda _name: None)
    with pytest.raises(UserError, match=r"pip install 'linerate\[pandas\]'"):
        lr.load(RUNS / "base").to_pandas()


def test_a_data_frame_has_the_same_rows():
    pytest.importorskip("pandas")
    frame = lr.load(RUNS / "base").to_pandas()
    assert list(frame["test"]) == ["U1", "U2", "B2", "U4"]


def test_displays_are_escaped_and_load_nothing():
    base, other = (lr.load(RUNS / name) for name in ("base", "other"))
    base.record = base.record.model_copy(update={"problem": "<script>", "status": "failed"})
    for one in (base, lr.compare(base, other)):
        text = one._repr_html_()
        assert "<table>" in text
        assert "U2" in text
        assert not {"<script", "src=", "href="} & {
            word for word in ("<script", "src=", "href=") if word in text
        }
    assert "&lt;script&gt;" in base._repr_html_()


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_the_example_notebook_runs(file, fake_environment, tmp_path, monkeypatch, capsys):
    """Each cell as a kernel would run it: its last expression is shown."""
    monkeypatch.setenv("FAKE_DUT_PPS", "5e6")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = [one for one in json.loads(file.read_text())["cells"] if one["cell_type"] == "code"]
    assert cells
    for cell in cells:
        assert cell["outputs"] == []
        *body, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(body, []), str(file), "exec"), names)
        assert isinstance(last, ast.Expr)
        shown = eval(compile(ast.Expression(last.value), str(file), "eval"), names)
        assert shown is not None
        if hasattr(shown, "_repr_html_"):
            assert "<table>" in shown._repr_html_()
