"""The scoreboard asks for what the issue asks, and says so where it cannot ask."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.faults.scoring import part, row
from tests.faults.test_planted_faults import score_module

score = score_module()
marks, truths = part("marks"), part("truths")
TRUTH: dict[str, Any] = {
    "class": "zero_division",
    "layer": "numerics",
    "symptom": "nan_loss",
    "op": "aten::div",
    "line": 3,
}


def script(name: str = "numerics/a", **changed: Any) -> Any:
    return truths.Script(name, Path("."), "train.py", TRUTH | changed)


def asked(**words: Any) -> Any:
    return SimpleNamespace(
        **{"only": "", "faults": False, "cases": False, "programs": False, "baselines": False} | words
    )


def test_class_step_op_line_and_sample_of_a_bad_value_must_be_right() -> None:
    given = {
        "found": True,
        "top1": False,
        "wrong": False,
        "step": True,
        "op": True,
        "line": True,
        "sline": True,
        "sample": True,
        "rows": False,
    }
    assert marks.must_be_right(script(), given) == [
        *("found", "top1", "wrong"),
        *("step", "op", "sline", "sample", "line"),
    ]
    assert marks.missed(script(), given) == ["top1"]


@pytest.mark.parametrize("changed", [{}, {"symptom": "silent"}, {"class": "unknown"}, {"note": "data/x"}])
def test_confirmed_but_wrong_is_never_right(changed: dict[str, str]) -> None:
    good = dict.fromkeys(("found", "top1", "step", "op", "sline", "abstained", "noted"), True)
    assert marks.missed(script(**changed), good | {"wrong": False}) == []
    assert marks.missed(script(**changed), good | {"wrong": True}) == ["wrong"]


def test_the_line_need_not_be_right_for_a_value_born_in_the_optimizer_or_the_data() -> None:
    given = {"step": True, "line": False, "sline": True}
    assert marks.must_be_right(script(layer="optimizer"), given) == ["step", "sline"]
    assert marks.must_be_right(script(op=None), given) == ["step", "sline"]


def test_silence_is_all_that_is_asked_on_a_healthy_script() -> None:
    assert marks.must_be_right(script(**truths.HEALTHY), {"quiet": False}) == ["quiet"]


def test_class_and_line_of_every_other_symptom_must_be_right_but_not_its_step() -> None:
    given = {"found": True, "top1": False, "step": False, "line": True, "param": False, "sample": True}
    assert marks.must_be_right(script(symptom="silent"), given) == ["found", "top1", "line", "sample"]
    assert marks.must_be_right(script(symptom="loss_spike"), given) == ["found", "top1", "sample"]


def test_a_fault_worth_a_remark_must_be_noted_and_no_more() -> None:
    assert marks.must_be_right(script(note="numerics/half-headroom"), {"noted": False, "wrong": False}) == [
        "noted",
        "wrong",
    ]
    assert marks.missed(script(note="numerics/half-headroom"), {"noted": False, "wrong": False}) == ["noted"]


def test_every_planted_fault_comes_with_its_twin() -> None:
    names = [s.name for s in truths.planted()]
    assert len(names) % 2 == 0
    assert all(twin == f"{fault} (healthy)" for fault, twin in zip(names[::2], names[1::2], strict=True))


def test_development_and_held_out_programs_are_separate_lines() -> None:
    pytest.importorskip("tomllib")  # Python 3.11
    lines = score.chosen(asked(programs=True))
    assert list(lines) == [truths.LEARNT, truths.HELD_OUT]
    assert {s.folder.name for s in lines[truths.LEARNT]} == truths.DEVELOPMENT
    assert not {s.folder.name for s in lines[truths.HELD_OUT]} & truths.DEVELOPMENT


def test_baselines_run_no_healthy_script() -> None:
    lines = score.chosen(asked(faults=True, baselines=True, only="data,optimizer"))
    assert lines[truths.PLANTED]
    assert not any(s.is_healthy for s in lines[truths.PLANTED])


def test_a_variant_runs_the_tool_with_its_setting_and_takes_no_row_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def judged(script: Any, scorer: Any, tool: list[str], *options: Any) -> Any:
        ran.append(tool)
        return row(script.name, symptom="none")

    monkeypatch.setattr(score, "judge", judged)
    file = tmp_path / "r.json"
    words = {"json": file, "jobs": 1, "timeout": 1.0, "keep": None, "tool": "true", "only": "data"}
    for variant in ("full", "cost 1"):
        score.measured(asked(faults=True, variant=variant, **words), None)
    assert len(ran) == 2 * len(score.chosen(asked(faults=True, only=words["only"]))[truths.PLANTED]) > 0
    assert ran[-1][:2] == ["env", "DEBUG_TRACER_COST=1"]
    assert set(score.read(file)) == {"full", "cost 1"}


def test_a_whole_run_leaves_no_older_row_of_its_variants_and_a_part_does(tmp_path: Path) -> None:
    kept = {"full": {truths.PLANTED: [row("gone"), row("again")]}, "no trials": {truths.PLANTED: [row("gone")]}}
    score.kept(tmp_path / "r.json", kept)
    part_of_it = score.kept(tmp_path / "r.json", {"full": {truths.PLANTED: [row("again")]}})
    assert [r.script for r in part_of_it["full"][truths.PLANTED]] == ["gone", "again"]
    whole = score.kept(tmp_path / "r.json", {"full": {truths.PLANTED: [row("again")]}}, whole=True)
    assert [r.script for r in whole["full"][truths.PLANTED]] == ["again"]
    assert [r.script for r in whole["no trials"][truths.PLANTED]] == ["gone"]


def test_without_the_scorer_of_the_case_tests_it_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(score, "SCORER", tmp_path / "score_cases.py")
    monkeypatch.setattr(sys, "argv", ["score.py"])
    monkeypatch.setenv("CI", "")
    assert score.main() == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "is missing" in out
    monkeypatch.setenv("CI", "true")
    assert score.main() == 1
