"""A finding and the trials of its step: which of the two speaks."""

import msgspec

from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead, surer
from debugtracer.trace.verdict import Suspect, Trial, Verdict

FOUND = Finding(
    check="optimizer/loss-spike",
    layer="optimizer",
    severity="warning",
    iteration=9,
    step=9,
    message="jumped",
    kind="data_hard_samples",
    symptom="loss_spike",
    confidence=0.7,
)
TRIED = Verdict(
    kind="lr_too_high",
    cause="lr-too-high",
    symptom="loss_spike",
    layer="optimizer",
    iteration=9,
    step=9,
    status="confirmed",
    confidence=0.95,
    trials=(Trial(intervention="lower-lr=10", outcome="healed"),),
    tested="with lr / 10: loss 2",
)


def test_a_confirmed_trial_takes_the_word():
    verdict = lead([FOUND], [TRIED])
    assert (verdict.kind, verdict.status, verdict.tested) == ("lr_too_high", "confirmed", "with lr / 10: loss 2")
    assert verdict.suspects[0].kind == "data_hard_samples"


def test_a_trial_that_confirms_nothing_only_shows_what_it_tried():
    verdict = lead([FOUND], [msgspec.structs.replace(TRIED, status="likely")])
    assert (verdict.kind, verdict.status, verdict.trials) == ("data_hard_samples", "likely", TRIED.trials)


def test_a_class_that_the_trials_left_alive_is_kept():
    alive = Suspect(kind="data_hard_samples", cause="data-hard-samples", confidence=0.06, status="unknown")
    assert lead([FOUND], [msgspec.structs.replace(TRIED, suspects=(alive,))]).kind == "data_hard_samples"


def test_agreement_makes_it_surer():
    verdict = lead([FOUND], [msgspec.structs.replace(TRIED, kind="data_hard_samples")])
    assert (verdict.kind, verdict.status, verdict.confidence) == ("data_hard_samples", "confirmed", 0.95)


def test_trials_of_another_step_or_rank_say_nothing():
    assert lead([FOUND], [msgspec.structs.replace(TRIED, step=8)]).trials == ()
    assert lead([FOUND], [msgspec.structs.replace(TRIED, rank=1)]).trials == ()


def test_a_proof_is_not_called_anything_else():
    exact = msgspec.structs.replace(FOUND, exact=True, kind="stale_gradients")
    assert (lead([exact], [TRIED]).kind, lead([exact], [TRIED]).trials) == ("stale_gradients", ())


def test_the_surer_word():
    assert surer("likely", "confirmed") == surer("confirmed", "unknown") == "confirmed"
