"""The table of programs at rest: the newest row of each, in both languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.faults.scoring import part

kept, costs = part("kept"), part("program_costs")


def row(ratio: float, floor: float | None) -> dict[str, Any]:
    watched = {"ratio": ratio, "quartiles": [1.0, 1.1], "interval": [ratio - 0.01, ratio + 0.01]}
    return {"bare_us": 1656.4, "watched": watched, "floor": None if floor is None else {"ratio": floor}}


def test_the_newest_row_of_each_program_the_cheapest_first() -> None:
    results = {
        "aaaaaaa": {"rows": {"Lightning": row(1.047, 1.03), "gcn": row(1.013, None)}},
        "bbbbbbb": {"rows": {"Lightning": row(1.029, 1.0258), "sac": {"error": "no env"}}},
    }
    values = kept.Kept(Path("2026-11-27-programs-at-rest.json"), {"results": results})
    assert costs.at_rest(values, "en").splitlines()[2:] == [
        "| gcn | 1.66 | 1.013 | 1.003 to 1.023 | - |",
        "| Lightning | 1.66 | 1.029 | 1.019 to 1.039 | 1.026 |",
    ]
    assert costs.at_rest(values, "zh").splitlines()[2] == "| 程序 gcn | 1.66 | 1.013 | 1.003 到 1.023 | - |"
