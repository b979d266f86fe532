"""Line coverage of fuzzing seeds: no target without its parser's files."""

import ast
import re
from pathlib import Path

import pytest
from fuzz import covered

ROOT = Path(covered.ROOT)


def test_every_target_in_c_has_files():
    built = re.findall(r"'fuzz_(\w+)':", (ROOT / "fuzz/meson.build").read_text())
    assert sorted(built) == sorted(covered.C_PARSERS)
    for patterns in covered.C_PARSERS.values():
        assert covered.found(ROOT / "engine", patterns)


def test_every_target_in_python_has_files():
    tree = ast.parse((ROOT / "fuzz/fuzz_files.py").read_text())
    targets = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(one, ast.Name) and one.id == "target" for one in node.decorator_list)
    ]
    assert sorted([*targets, "parsers"]) == sorted(covered.PYTHON_PARSERS)
    for patterns in covered.PYTHON_PARSERS.values():
        assert covered.found(ROOT / "src/linerate", patterns)


def test_a_file_that_is_gone_is_reported(tmp_path):
    (tmp_path / "here.c").touch()
    assert covered.found(tmp_path, ("here.c", "*.c")) == [tmp_path / "here.c"]
    with pytest.raises(ValueError, match=r"no gone\.c"):
        covered.found(tmp_path, ("here.c", "gone.c"))


def test_lines_are_those_of_the_parsers_files_alone(tmp_path):
    exported = {
        "data": [
            {
                "files": [
                    {"filename": name, "summary": {"lines": {"count": count, "covered": reached}}}
                    for name, count, reached in (
                        ("../engine/a.c", 100, 40),
                        (str(tmp_path / "engine/b.c"), 10, 10),
                        ("../engine/other.c", 1000, 1),
                    )
                ]
            }
        ]
    }
    files = [tmp_path / "engine/a.c", tmp_path / "engine/b.c"]
    assert covered.lines_of(exported, tmp_path / "build", files) == (110, 50)


def test_the_table_has_a_row_a_target():
    rows = [
        covered.Covered("config", seeds=140, files=15, lines=2233, reached=1509),
        covered.Covered("empty", seeds=0, files=1, lines=0, reached=0),
    ]
    lines = list(covered.table(iter(rows)))
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split() == ["config", "140", "15", "2,233", "67.6", "%"]
    assert lines[2].split()[-2:] == ["0.0", "%"]
