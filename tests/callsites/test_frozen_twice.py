"""The later of two lines that freeze the same."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.frozen_twice import frozen_twice

SOURCE = """for epoch in range(9):
    if epoch == 0:
        for p in model.stem.parameters():
            p.requires_grad = False
    if epoch == warm:
        for p in model.{part}.parameters():
            p.requires_grad{second}
"""


def found(tmp_path: Path, second: str = " = False", part: str = "stem", more: str = "") -> int | None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(second=second, part=part) + more)
    frame = frozen_twice([str(file), str(file)])
    return frame.line if frame is not None else None


def test_the_later_line_is_found(tmp_path: Path) -> None:
    assert found(tmp_path) == 7


def test_a_program_that_unfreezes_anywhere_is_left_alone(tmp_path: Path) -> None:
    assert found(tmp_path, second=" = True") is None


def test_a_call_that_unfreezes_by_its_default_counts(tmp_path: Path) -> None:
    assert found(tmp_path, more="model.requires_grad_()\n") is None


def test_other_parameters_in_the_later_branch_are_no_second_time(tmp_path: Path) -> None:
    assert found(tmp_path, part="head") is None


def test_branches_that_do_not_ask_for_the_counter_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    text = SOURCE.format(second=" = False", part="stem").replace("epoch ==", "mode ==")
    file.write_text(text)
    assert frozen_twice([str(file)]) is None
