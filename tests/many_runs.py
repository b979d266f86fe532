"""Many runs made of a measured one, to see what lists and comparisons do with them."""

import json
import sys
from pathlib import Path

STORED = Path(__file__).parent / "system" / "report_run.json"
MODES = ("router", "io", "mac", "macswap", "l2fwd")
LINKS = (1, 10, 25, 100)


def make_many(runs: Path, count: int) -> list[str]:
    """Write `count` run folders; modes, links, dates and rates differ. Returns their names."""
    stored = STORED.read_text(encoding="utf-8")
    names = []
    for number in range(count):
        document = json.loads(stored)
        mode = MODES[number % len(MODES)]
        minutes, day = divmod(number, 28)
        document["testbed"]["dut"]["mode"] = mode
        document["testbed"]["card"]["link_bps"] = LINKS[number % len(LINKS)] * 10**9
        document["started"] = f"2026-10-{day + 1:02}T{minutes // 60:02}:{minutes % 60:02}:00Z"
        for result in document["results"]:
            result["received_pps"] *= 0.5 + number / count
        name = f"202610{day + 1:02}-{minutes:04}00-{mode}"
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
        names.append(name)
    return names


if __name__ == "__main__":
    make_many(Path(sys.argv[1]), int(sys.argv[2]))
