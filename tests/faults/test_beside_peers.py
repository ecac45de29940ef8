"""The section that sets peers beside us counts each tool's rows and gives each program a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.faults.scoring import part

beside, kept = part("beside_peers"), part("kept")


def row(tool: str, told: str, *, name: str = "a-01", line: bool = False, twin: bool | None = False) -> dict[str, Any]:
    return {"id": name, "tool": tool, "told": told, "line": line, "said": "NaN at step 6."} | {
        "alarm_on_twin": twin,
        "loud_on_twin": False,
    }


RESULT: dict[str, Any] = {
    "date": "2026-11-27",
    "versions": {"neuraldbg": "1.3.2"},
    "how": "By hand.",
    "tools": ["debug-tracer", "neuraldbg"],
    "run": {"neuraldbg": "as its manual says."},
    "cpu_ratio": {"neuraldbg": 2.5},
    "programs": [
        {"id": "a-01", "name": "silent-clip", "kind": "loud", "mechanism": "0 / 0"},
        {"id": "a-02", "name": "sqrt", "kind": "silent", "mechanism": "inf * 0"},
    ],
    "rows": [
        row("debug-tracer", "right", line=True),
        row("debug-tracer", "not at all", name="a-02", twin=None),
        row("neuraldbg", "half", twin=True),
    ],
}


def made() -> list[str]:
    text: str = beside.peers_beside(kept.Kept(Path("2026-11-27-peers-beside.json"), RESULT))
    return text.splitlines()


def test_each_tool_is_counted() -> None:
    assert made()[4:6] == [
        "| **debug-tracer** | 2 | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 0 of 1 | 0 of 1 | - |",
        "| neuraldbg | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 1 of 1 | 0 of 1 | 2.50 |",
    ]


def test_each_program_has_a_row_and_what_was_not_run_a_dash() -> None:
    assert made()[-2:] == [
        "| a-01 silent-clip | loud | 0 / 0 | **right, line**: NaN at step 6. | **half**: NaN at step 6. (an alarm "
        "on the twin too) |",
        "| a-02 sqrt | silent | inf * 0 | **not at all**: NaN at step 6. | - |",
    ]


def test_how_each_was_run_is_said() -> None:
    assert "- **neuraldbg**: as its manual says." in made()
