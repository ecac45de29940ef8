"""The memory of a run is drawn over its steps, as far as the machine tells it."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_trace
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import to_plain
from debugtracer.trace.facts.memory import Memory
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.journal import encode_event
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.views.page.memory_lines import MOST, memory_lines


def a_run(folder: Path, resident: list[int], allocated: int | None = None) -> Trace:
    run = a_trace(folder)
    with (run / "rank=0" / "events.jsonl").open("ab") as events:
        for n, held in enumerate(resident):
            ref = StepRef(iteration=10 * n, step=10 * n)
            fact = Memory(ref=ref, resident=held, allocated=allocated, reserved=None, total=None)
            events.write(encode_event(Observed(at=1.0, word=fact.word(), fact=to_plain(fact))) + b"\n")
    return open_trace(run)


def test_each_kind_of_memory_that_is_told_is_a_line(tmp_path: Path) -> None:
    (resident,) = memory_lines(a_run(tmp_path / "a", [5, 7, 6]), 0)
    assert resident == {"name": "resident", "x": [0, 10, 20], "y": [5, 7, 6]}
    assert [line["name"] for line in memory_lines(a_run(tmp_path / "b", [5, 7], 3), 0)] == ["resident", "allocated"]
    assert memory_lines(a_run(tmp_path / "c", [0, 0]), 0) == []  # the system does not say


def test_of_a_long_run_the_greatest_and_the_last_are_kept(tmp_path: Path) -> None:
    held = [100] * (3 * MOST)
    held[MOST + 1] = 900
    (line,) = memory_lines(a_run(tmp_path, held), 0)
    assert len(line["x"]) <= MOST + 2
    assert (max(line["y"]), line["x"][-1]) == (900, 10 * (3 * MOST - 1))
