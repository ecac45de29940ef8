"""A step whose cause the user lives with is written as the program has it."""

from __future__ import annotations

from pathlib import Path

from tests.responses.chosen import BAD, go
from tests.responses.loops import actions, given


def test_what_is_noted_alone_is_left_to_the_program(tmp_path: Path) -> None:
    loop = go(tmp_path, given(BAD + 1, (BAD,)), "data-nonfinite=note")
    done = actions(tmp_path)
    assert {a.action for a in done} == {"note"} and all("as you have chosen" in a.reason for a in done)
    assert bool(next(loop.model.parameters()).isnan().any())
