"""A row says what the verdict said: its confidence, its suspects, the trials that ran, and whether one of them proves
it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.faults.scoring import part, row

marks, stamp, truths = part("marks"), part("stamp"), part("truths")
TRUTH: dict[str, Any] = {
    "class": "zero_division",
    "layer": "numerics",
    "symptom": "nan_loss",
    "op": "aten::div",
    "line": 3,
    "also_accept": ["bad_math"],
}
SCRIPT = truths.Script("numerics/a", Path("."), "train.py", TRUTH)


def trial(intervention: str, outcome: str) -> dict[str, str]:
    return {"intervention": intervention, "outcome": outcome}


def said(*trials: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "class": "zero_division",
        "cause": "zero-division",
        "status": "likely",
        "confidence": 0.8,
        "trials": list(trials),
        **more,
    }


def test_a_row_keeps_what_the_verdict_said() -> None:
    verdict = said(
        trial("unchanged", "reproduced"), tested="with eps", seconds=1.5, suspects=[{"class": "lr_too_high"}]
    )
    got = marks.of_verdict(SCRIPT, verdict, {"step": True, "sline": False})
    assert (got.script, got.kind, got.layer, got.symptom, got.also) == (
        "numerics/a",
        "zero_division",
        "numerics",
        "nan_loss",
        ["bad_math"],
    )
    assert (got.got, got.status, got.confidence, got.suspects, got.verdict_s) == (
        "zero_division",
        "likely",
        0.8,
        ["lr_too_high"],
        1.5,
    )
    assert (got.tested, got.wrong) == (True, ["sline"])
    assert {"date": got.date, "commit": got.commit} == stamp.stamp()


def test_without_a_verdict_nothing_was_said() -> None:
    got = marks.of_verdict(SCRIPT, {}, {})
    assert (got.got, got.status, got.confidence, got.trials, got.proved, got.tested, got.verdict_s) == (
        None,
        None,
        None,
        0,
        False,
        False,
        0.0,
    )


def test_trials_that_could_not_run_are_not_counted() -> None:
    assert (
        marks.of_verdict(SCRIPT, said(trial("unchanged", "reproduced"), trial("stable-op", "could not run")), {}).trials
        == 1
    )


def test_a_trial_that_the_cause_names_proves_it_when_it_heals() -> None:
    proof = marks.proofs("zero-division")[0]
    assert marks.of_verdict(SCRIPT, said(trial(f"{proof}=1e-06", "healed")), {}).proved
    assert not marks.of_verdict(SCRIPT, said(trial(proof, "not healed")), {}).proved
    assert not marks.of_verdict(SCRIPT, said(trial("unchanged", "healed")), {}).proved


def test_a_cause_that_is_in_no_library_has_no_proof() -> None:
    assert marks.proofs("no-such-cause") == ()
    assert marks.proofs(None) == ()


def test_a_baseline_is_the_same_tool_with_another_setting() -> None:
    assert marks.with_settings(["debug-tracer"], {}) == ["debug-tracer"]
    assert marks.with_settings(["debug-tracer"], {"DEBUG_TRACER_TRIALS": "0"}) == [
        "env",
        "DEBUG_TRACER_TRIALS=0",
        "debug-tracer",
    ]


def test_the_line_of_the_terminal_ends_in_what_is_wrong() -> None:
    line = marks.told(
        row(
            marks={"top1": True, "sline": False},
            got="zero_division",
            trials=3,
            verdict_s=1.25,
            note="exit 3",
            wrong=["sline"],
        )
    )
    assert (
        " ".join(line.split())
        == "numerics/a zero_division -> zero_division (likely 0.80, 3 trials, 1.2s) top1+ sline- 0s exit 3 WRONG: sline"
    )


@pytest.mark.parametrize(
    ("program", "held"), [("mlp_tabular", False), ("gan_points", True), ("a_program_of_tomorrow", True)]
)
def test_what_is_not_named_for_development_is_held_out(program: str, held: bool) -> None:
    assert (
        truths.is_held_out(truths.Script(f"{program}/x", Path("faults/programs") / program, "train.py", TRUTH)) is held
    )
