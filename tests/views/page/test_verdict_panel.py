"""The first screen says what the text views say, with source and samples."""

from __future__ import annotations

from pathlib import Path

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, a_birth, a_finding, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.page.verdict_panel import outcome, plainly, verdict_panel

STORED = Path(__file__).parents[2] / "stored_runs"


def test_an_incident_has_its_op_line_sample_trials_and_change() -> None:
    panel = verdict_panel(open_trace(STORED / "nan_gradient" / "run"))
    told = panel["verdict"]
    assert (panel["tone"], told["op"], told["direction"]) == ("bad", "aten::sqrt", "backward")
    guilty = panel["sources"][0]
    assert guilty["lines"][guilty["line"] - guilty["first"]].strip().startswith("return torch.where(z > 0")
    assert [row["index"] for row in panel["batch"]["rows"] if row["guilty"]] == list(told["sample_index"])
    assert {trial["outcome"] for trial in panel["trials"]} >= {"same", "healed", "persists"}
    assert panel["change"][1].startswith("- ")
    assert panel["bad"]["grad_l2"] == "NaN"


def test_a_verdict_of_a_finding_has_its_sentence_and_line() -> None:
    panel = verdict_panel(open_trace(STORED / "overlapping_split" / "run"))
    assert panel["verdict"]["class"] == "data_train_eval_overlap"
    assert panel["what"]
    assert panel["sources"][0]["lines"] != []
    assert panel["batch"] is None


def test_a_healthy_run_has_no_verdict_and_a_good_tone(tmp_path: Path) -> None:
    panel = verdict_panel(open_trace(a_trace(tmp_path, exit_code=0, stopped=False)))
    assert (panel["verdict"], panel["tone"], panel["further"]) == (None, "good", [])
    assert panel["title"].startswith("run run-1, 49 steps")


def test_what_stands_in_the_verdict_is_not_told_twice(tmp_path: Path) -> None:
    facts = some_facts(a_birth("aten::log", a_tensor(0.0)))
    note = a_finding("data/all-masked", "note")
    panel = verdict_panel(open_trace(a_trace(tmp_path, an_incident(facts, rank(facts)), Found(at=AT, finding=note))))
    assert [f["check"] for f in panel["further"]] == ["data/all-masked"]


def test_a_trial_has_one_word() -> None:
    assert outcome("unchanged", "the fault came again; loss nan") == "same"
    assert outcome("unchanged", "the fault did not come again") == "changed"
    assert outcome("older-weights=1", "not healed: ...") == "persists"
    assert outcome("not tried", "...") == "idle"


def test_numbers_are_told_in_the_digits_that_are_read() -> None:
    assert [plainly(value) for value in (4.2487482374584544e-10, 12, "NaN")] == ["4.24875e-10", "12", "NaN"]
