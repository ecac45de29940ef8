"""Which finding a report leads with."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_finding
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead


def diagnosis(kind: str | None, *, severity: str = "warning", step: int = 5, **more: object) -> Finding:
    return msgspec.structs.replace(a_finding(f"optimizer/{kind}", severity, step), kind=kind, **more)


def test_notes_and_symptoms_without_a_diagnosis_lead_nowhere():
    assert lead([]) is None
    assert lead([diagnosis("lr_too_high", severity="note"), diagnosis(None, severity="error")]) is None


def test_a_proof_comes_before_an_earlier_guess():
    verdict = lead(
        [diagnosis("lr_too_high", confidence=0.9, step=1), diagnosis("stale_gradients", exact=True, step=40)]
    )
    assert (verdict.kind, verdict.status, verdict.confidence, verdict.step) == (
        "stale_gradients",
        "confirmed",
        0.97,
        40,
    )
    assert [(s.kind, s.status) for s in verdict.suspects] == [("lr_too_high", "likely")]


def test_an_error_comes_before_a_warning_and_the_surer_before_the_earlier():
    assert lead([diagnosis("a", step=1), diagnosis("b", severity="error", step=9)]).kind == "b"
    assert lead([diagnosis("a", step=1, confidence=0.5), diagnosis("b", step=9, confidence=0.8)]).kind == "b"
    assert lead([diagnosis("a", step=9), diagnosis("b", step=1)]).kind == "b"


def test_the_words_follow_the_confidence():
    assert [lead([diagnosis("a", confidence=c)]).status for c in (0.9, 0.5, 0.2)] == ["likely", "possible", "unknown"]


def test_what_the_check_suspects_is_named_after_what_was_diagnosed_and_each_class_once():
    first = diagnosis("a", confidence=0.9, suspects=("b", "c", "a"))
    assert [s.kind for s in lead([first, diagnosis("b"), diagnosis("d")]).suspects] == ["b", "d", "c"]


def test_what_spoils_the_training_comes_before_what_spoils_its_scores():
    scores = msgspec.structs.replace(diagnosis("train_eval_mode", step=5), check="model/train-mode-eval")
    cut = diagnosis("detached_graph", step=50)
    verdict = lead([scores, cut])
    assert verdict is not None
    assert verdict.kind == "detached_graph"


def from_check(check: str, kind: str, **more: object) -> Finding:
    return msgspec.structs.replace(diagnosis(kind, **more), check=check)


def test_a_reason_comes_before_the_surer_and_earlier_word_that_something_was_too_large():
    vague = from_check("model/answers-alike", "lr_too_high", severity="error", step=0, confidence=0.9)
    units = from_check("model/dead-units", "dead_relu", step=1, confidence=0.95)
    reason = from_check("optimizer/warmup-uncapped", "scheduler_misuse", step=79, confidence=0.85)
    verdict = lead([vague, units, reason])
    assert verdict is not None
    assert (verdict.kind, verdict.step) == ("scheduler_misuse", 79)
    assert [s.kind for s in verdict.suspects] == ["lr_too_high", "dead_relu"]


def test_a_reason_that_is_only_possible_or_that_no_rate_follows_from_explains_nothing():
    vague = from_check("model/answers-alike", "lr_too_high", step=0, confidence=0.9)
    unsure = from_check("optimizer/warmup-uncapped", "scheduler_misuse", step=0, confidence=0.5)
    low = from_check("optimizer/rate-faded", "scheduler_misuse", step=9, confidence=0.85)
    assert lead([vague, unsure, low]).kind == "lr_too_high"


def test_a_reason_does_not_come_before_what_is_no_consequence_of_it():
    other = from_check("data/label-range", "label_out_of_range", step=0, confidence=0.9)
    reason = from_check("optimizer/warmup-uncapped", "scheduler_misuse", step=79, confidence=0.85)
    assert lead([other, reason]).kind == "label_out_of_range"
