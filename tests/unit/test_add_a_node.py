"""docs/add-a-node.md shows the node that tests/engine/test_attach.c builds and reaches."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_example_is_the_file_that_is_tested() -> None:
    """The page holds the whole file, as it is."""
    page = (ROOT / "docs" / "add-a-node.md").read_text()
    node = (ROOT / "tests" / "engine" / "drop_odd.c").read_text()
    assert f"```c\n{node}```\n" in page
