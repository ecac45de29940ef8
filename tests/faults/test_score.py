"""The scoreboard asks for what the issue asks, and its tables say what the marks say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_planted_faults import score_module

score = score_module()
TRUTH: dict[str, Any] = {"class": "zero_division", "layer": "numerics", "symptom": "nan_loss", "op": "aten::div", "line": 3}


def script(name: str = "numerics/a", **changed: Any) -> Any:
    return score.Script(name, Path("."), "train.py", TRUTH | changed)


def row(of: Any, **marks: bool) -> Any:
    return score.Row(of, marks, "zero_division", "likely", 1.0, "exit 3")


def test_step_op_line_and_sample_of_a_bad_value_must_be_right() -> None:
    marks = {"found": True, "top1": False, "step": True, "op": True, "line": True, "sline": True, "sample": True, "rows": False}
    assert score.must_be_right(script(), marks) == ["step", "op", "sline", "sample", "line"]


def test_the_line_need_not_be_right_for_a_value_born_in_the_optimizer_or_the_data() -> None:
    marks = {"step": True, "line": False, "sline": True}
    assert score.must_be_right(script(layer="optimizer"), marks) == ["step", "sline"]
    assert score.must_be_right(script(op=None), marks) == ["step", "sline"]


def test_silence_is_all_that_is_asked_on_a_healthy_script() -> None:
    assert score.must_be_right(script(**score.HEALTHY), {"quiet": False}) == ["quiet"]


def test_class_and_line_of_every_other_symptom_must_be_right_but_not_its_step() -> None:
    marks = {"found": True, "top1": False, "step": False, "line": True, "param": False, "sample": True}
    assert score.must_be_right(script(symptom="silent"), marks) == ["found", "top1", "line", "sample"]
    assert score.must_be_right(script(symptom="loss_spike"), marks) == ["found", "top1", "sample"]


def test_a_fault_worth_a_remark_must_be_noted_and_no_more() -> None:
    assert score.must_be_right(script(note="numerics/half-headroom"), {"noted": False, "wrong": False}) == ["noted"]


def test_the_table_has_a_row_per_fault_and_says_no_aloud() -> None:
    rows = [row(script(), top1=True, step=True, op=False), row(script("b", symptom="silent"), top1=False, found=False, wrong=False)]
    table = score.table([*rows, row(script("c (healthy)", **score.HEALTHY), quiet=True)])
    assert len(table) == 4
    assert table[2] == "| numerics/a | nan_loss | right | yes | **no** | - | - | - | - | - |"


def test_the_layers_are_counted() -> None:
    rows = [row(script(), found=True, top1=True, line=False), row(script("data/b", layer="data"), found=True, top1=False)]
    table = score.layers([*rows, row(script("c (healthy)", **score.HEALTHY), quiet=True)])
    assert [line.split(" | ")[:5] for line in table[2:]] == [["| data", "1", "1/1", "0/1", "-"], ["| numerics", "1", "1/1", "1/1", "-"]]
    assert "0/1" in table[3]


def test_every_planted_fault_comes_with_its_twin() -> None:
    names = [s.name for s in score.planted()]
    assert len(names) % 2 == 0
    assert all(twin == f"{fault} (healthy)" for fault, twin in zip(names[::2], names[1::2], strict=True))


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("above\n<!-- score:begin -->\nold\n<!-- score:end -->\nbelow\n")
    assert score.between(page, "score", "new")
    assert page.read_text() == "above\n<!-- score:begin -->\nnew\n<!-- score:end -->\nbelow\n"


@pytest.mark.parametrize("text", ["no marks at all\n", "<!-- score:begin -->\n"])
def test_a_page_without_marks_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "README.md"
    page.write_text(text)
    assert not score.between(page, "score", "new")
    assert page.read_text() == text


def test_without_the_shared_scorer_it_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(score, "SCORER", tmp_path / "score_cases.py")
    monkeypatch.setattr("sys.argv", ["score.py"])
    monkeypatch.setenv("CI", "")
    assert score.main() == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "is missing" in out
    monkeypatch.setenv("CI", "true")
    assert score.main() == 1
