"""What `confirmed` needs, one condition at a time, and which cause a verdict after trials names."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.causes.cause import Evidence, causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.conclusion import (
    concluded,
    equivalents,
    healthy_after,
    is_seen,
    refuted,
    seen_to_heal,
    slower,
    status_of,
    with_trials,
)
from debugtracer.diagnosis.proof.likelihood import UNKNOWN
from debugtracer.diagnosis.proof.rank import Ranked, unexplained
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.replay.trials.score import Score
from debugtracer.testing import TRAIN, a_birth, a_tensor, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.incident import OptimizerFacts, ReplayFacts, WeightWrite
from debugtracer.trace.verdict import Outcome, Trial

AGAIN = ("unchanged", "reproduced")
HEALED = ("stable-op=1e-08", "healed")
IN_VAIN = {"stable-op": True, "older-weights": False}
SURE = {"log-domain": 0.95, UNKNOWN: 0.05}


def a_series(
    *trials: tuple[str, Outcome], done: dict[str, bool] | None = None, bits: dict[str, float] | None = None
) -> TrialSeries:
    return TrialSeries(
        Belief(bits or {UNKNOWN: 0.0, "log-domain": 5.0}),
        lambda intervention: Score(),
        lambda score: False,
        TrialBudget(),
        trials=[Trial(intervention=name, outcome=outcome, note=f"{name} tried") for name, outcome in trials],
        done=done or {},
    )


def a_log(confidence: float = 0.8, slug: str = "log-domain", **more: object) -> Ranked:
    return Ranked(causes()[slug], Evidence(confidence, "it was 0", ("clamp it",), **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("trials", "done", "shares", "status"),
    [
        ((AGAIN, HEALED), IN_VAIN, SURE, "confirmed"),
        ((HEALED,), IN_VAIN, SURE, "likely"),  # not seen to come again
        ((("unchanged", "not reproduced"), HEALED), IN_VAIN, SURE, "likely"),
        ((("older-weights", "reproduced"), HEALED), IN_VAIN, SURE, "likely"),
        ((AGAIN, ("stable-op", "not healed")), {"older-weights": False}, SURE, "likely"),  # no proof
        ((AGAIN, ("full-precision", "healed")), IN_VAIN, SURE, "likely"),  # what healed it is no proof of this cause
        ((AGAIN, HEALED), {"stable-op": True}, SURE, "likely"),  # no alternative was tried
        ((AGAIN, HEALED), {"stable-op": True, "older-weights": True}, SURE, "likely"),  # it heals as well
        ((AGAIN, HEALED), {"stable-op": True, "other-batch": False}, SURE, "likely"),  # a proof of its own is none
        ((AGAIN, HEALED), IN_VAIN, {"log-domain": 0.9, UNKNOWN: 0.1}, "confirmed"),
        ((AGAIN, HEALED), IN_VAIN, {"log-domain": 0.899, UNKNOWN: 0.101}, "likely"),
        ((AGAIN, HEALED), IN_VAIN, {"log-domain": 0.95, "exp-overflow": 0.05}, "likely"),  # a rival is left
        ((AGAIN, HEALED), IN_VAIN, {"log-domain": 0.95, "exp-overflow": 0.049}, "confirmed"),
        ((AGAIN, HEALED), IN_VAIN, {"log-domain": 0.699, UNKNOWN: 0.301}, "possible"),
    ],
)
def test_confirmed_needs_the_fault_again_a_proof_that_heals_an_alternative_in_vain_and_no_rival(
    trials, done, shares, status
):
    assert status_of(a_log(), a_series(*trials, done=done), shares) == status


def test_a_rival_of_the_same_class_is_none():
    best = a_log(slug="zero-division")
    series = a_series(AGAIN, HEALED, done=IN_VAIN, bits={UNKNOWN: 0.0, "zero-division": 5.0})
    assert status_of(best, series, {"zero-division": 0.92, "class-weights-zero": 0.08}) == "confirmed"
    assert status_of(best, series, {"zero-division": 0.92, "log-domain": 0.08}) == "likely"


def test_a_broken_invariant_needs_no_trial():
    assert status_of(a_log(exact=True), a_series(), {UNKNOWN: 1.0}) == "confirmed"


def test_without_a_proof_a_cause_is_no_surer_than_its_evidence_and_no_surer_than_the_trials():
    nothing = a_series(AGAIN)
    assert status_of(a_log(0.5), nothing, SURE) == "possible"
    assert status_of(a_log(0.9), nothing, {"log-domain": 0.5, UNKNOWN: 0.5}) == "possible"
    assert status_of(a_log(0.9), nothing, {"log-domain": 0.1, UNKNOWN: 0.9}) == "unknown"
    assert status_of(a_log(0.5), a_series(AGAIN, HEALED), SURE) == "likely"  # a proof is more than the evidence


def test_what_the_op_was_seen_to_get_stays_possible_and_a_weak_one_is_never_more():
    nothing = a_series(AGAIN)
    assert status_of(a_log(0.9, seen=True), nothing, {"log-domain": 0.1, UNKNOWN: 0.9}) == "possible"
    assert status_of(a_log(0.9, seen=True), nothing, SURE) == "likely"
    assert status_of(a_log(0.69, seen=True), a_series(AGAIN, HEALED, done=IN_VAIN), SURE) == "possible"
    assert status_of(a_log(0.7, seen=True), a_series(AGAIN, HEALED, done=IN_VAIN), SURE) == "confirmed"
    proved = a_series(AGAIN, HEALED)
    assert status_of(a_log(0.9, seen=True), proved, {"log-domain": 0.1, UNKNOWN: 0.9}) == "unknown"


def test_a_cause_is_refuted_by_its_own_trials_where_none_of_them_healed():
    known = {"log-domain": a_log()}
    shares = {UNKNOWN: 0.9, "log-domain": 0.1}
    assert refuted(a_series(done={"stable-op": False}), shares, known)
    assert refuted(a_series(done={"stable-op": False, "older-weights": True}), shares, known)
    assert not refuted(a_series(done={"stable-op": False, "without-sample": True}), shares, known)
    assert not refuted(a_series(done={"older-weights": False}), shares, known)
    assert not refuted(a_series(), shares, known)
    assert refuted(a_series(), {UNKNOWN: 1.0}, known)


def test_the_first_cause_is_seen_or_not_whatever_the_others_are():
    known = {"log-domain": a_log(seen=True), "exp-overflow": a_log(slug="exp-overflow")}
    assert is_seen({UNKNOWN: 0.8, "log-domain": 0.1, "exp-overflow": 0.1}, known)
    assert not is_seen({"exp-overflow": 0.6, "log-domain": 0.4}, known)
    assert not is_seen({UNKNOWN: 1.0}, known)


def kind_of(best: Ranked, done: dict[str, bool], bits: float) -> str | None:
    series = a_series(AGAIN, done=done, bits={UNKNOWN: 0.0, "log-domain": bits})
    return concluded(some_facts(a_birth("aten::log")), [best], series).kind


def test_where_unknown_leads_the_evidence_stands_until_its_own_trials_have_failed():
    assert kind_of(a_log(0.4), {}, 1.0) == "log_domain"
    assert kind_of(a_log(0.4), {}, -1.0) == "log_domain"
    assert kind_of(a_log(0.4), {"stable-op": False}, 1.0) == "log_domain"
    assert kind_of(a_log(0.4), {"stable-op": False}, -1.0) is None
    assert kind_of(a_log(0.4, seen=True), {"stable-op": False}, -1.0) == "log_domain"
    assert kind_of(a_log(0.39), {}, -1.0) is None
    assert kind_of(a_log(0.39), {}, 1.0) is None


def test_older_weights_that_heal_ask_for_a_smaller_rate_too():
    best, done = a_log(), {"older-weights": True}
    (told,) = slower(some_facts(), best, a_series(done=done))
    assert "divide the learning rate by 10 (lr 0.001 at train.py:70)" in told
    nowhere = OptimizerFacts(kind="Adam", lr=1e-3)
    assert "(lr 0.001)" in slower(some_facts(optimizer=nowhere), best, a_series(done=done))[0]
    assert slower(some_facts(), best, a_series(done={"older-weights": False})) == ()
    assert slower(some_facts(), best, a_series()) == ()
    assert slower(some_facts(), None, a_series(done=done)) == ()
    assert slower(some_facts(optimizer=None), best, a_series(done=done)) == ()
    assert slower(some_facts(optimizer=OptimizerFacts(kind="Adam")), best, a_series(done=done)) == ()
    said = Ranked(best.cause, Evidence(0.8, "it was 0", ("lower the learning rate",)))
    assert slower(some_facts(), said, a_series(done=done)) == ()
    assert slower(some_facts(), a_log(slug="lr-too-high"), a_series(done=done)) == ()
    bad = a_birth(None, kind="input", direction="input", input_name="parameter w")
    write = WeightWrite(params=("w",), op="copy_", frame=Frame(TRAIN, 12))
    assert slower(some_facts(bad, written=(write,)), best, a_series(done=done)) == ()


def test_equivalents_are_other_classes_that_a_trial_as_narrow_as_the_proof_speaks_for():
    bits = {UNKNOWN: 0.0, "log-domain": 5.0, "exp-overflow": 1.0, "lr-too-high": 1.0}
    as_narrow = a_series(HEALED, done={"stable-op": True, "lower-lr": True}, bits=bits)
    assert equivalents(a_log(), as_narrow) == ("exp_overflow",)
    assert equivalents(a_log(), a_series(HEALED, done={"stable-op": False, "lower-lr": True}, bits=bits)) == ()
    assert equivalents(a_log(), a_series(done={"stable-op": True}, bits=bits)) == ()
    assert equivalents(a_log(), a_series(HEALED, done={"stable-op": True})) == ()  # nobody believes in the other


def test_what_was_tried_is_said_for_and_against():
    facts = some_facts(a_birth("aten::log"))
    plain = unexplained(facts, [])
    series = a_series(("stable-op", "not healed"), ("full-precision", "healed"), ("other-batch", "healed"))
    told = with_trials(plain, facts, a_log(against=("a doubt",)), series)
    assert told.tested.startswith("with other-batch tried")  # the proof, not the narrowest of all
    assert told.evidence == ("it was 0",)
    assert told.against == (
        "a doubt",
        "stable-op would heal this cause and did not",
        "full-precision healed the step and would not heal this cause",
    )
    assert with_trials(plain, facts, a_log(exact=True), series).against == ()
    unknown = with_trials(plain, facts, None, series)
    assert (unknown.evidence, unknown.against) == ((), ())
    assert unknown.tested.startswith("with full-precision tried")
    assert with_trials(plain, facts, None, a_series(("stable-op", "not healed"))).tested == ""


def test_a_step_that_is_healthy_after_a_write_of_the_program_says_so():
    away = ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")
    write = WeightWrite(params=("w",), op="copy_", frame=Frame(TRAIN, 12))
    told = healthy_after(some_facts(replay=away, written=(write,)))
    assert told.startswith("the step is healthy with the weights as train.py:12 has left them")
    assert healthy_after(some_facts(replay=away)) == ""
    assert healthy_after(some_facts(written=(write,))) == ""
    assert healthy_after(some_facts(replay=None, written=(write,))) == ""
    again = msgspec.structs.replace(write, replayed=True)
    assert healthy_after(some_facts(replay=away, written=(again,))) == ""


def of_a_log(dtype: str = "float32"):
    output = a_tensor(neginf=4, dtype=dtype)
    return some_facts(a_birth("aten::log", a_tensor(0.0), output=output, code="loss = -torch.log(p).mean()"))


def test_other_causes_are_suspects_with_their_shares_and_the_leader_is_none():
    ranked = [a_log(), a_log(0.5, slug="exp-overflow"), a_log(0.45, slug="zero-division")]
    bits = {UNKNOWN: 0.0, "log-domain": 5.0, "exp-overflow": 1.0, "zero-division": 0.0}
    series = a_series(AGAIN, bits=bits)
    verdict = concluded(of_a_log(), ranked, series)
    shares = series.belief.shares()
    assert [(s.cause, s.confidence) for s in verdict.suspects] == [
        ("exp-overflow", round(shares["exp-overflow"], 3)),
        ("zero-division", round(shares["zero-division"], 3)),
    ]
    assert verdict.confidence == calibrated("likely", False, shares["log-domain"], "log_domain")


def test_a_weak_belief_is_told_as_it_is():
    series = a_series(AGAIN, bits={UNKNOWN: 0.0, "log-domain": -2.0})
    verdict = concluded(of_a_log(), [a_log(0.5)], series)
    assert verdict.confidence == calibrated("unknown", False, 0.2, "log_domain")


@pytest.mark.parametrize(
    ("name", "note", "dtype", "size"),
    [
        ("stable-op=0.001", "clamp_min(0.001) before the logarithm", "float32", 0.001),
        ("stable-op=0.001", "a stable form", "float32", None),  # it was not used as it is
        ("stable-op", "clamp_min(0.001) before the logarithm", "float32", None),
        ("stable-op=0.001", "clamp_min(0.001) before the logarithm", "float16", None),
        ("full-precision=0.001", "0.001", "float32", None),  # a trial of another kind than the change
    ],
)
def test_a_change_takes_over_the_number_that_was_seen_to_heal(name, note, dtype, size):
    facts, cause = of_a_log(dtype), causes()["log-domain"]
    incident = IncidentEvidence(facts)
    edit = cause.change(incident, facts.birth.frame)
    series = a_series(AGAIN)
    series.trials.append(Trial(intervention=name, outcome="healed", note=note))
    assert edit is not None
    assert seen_to_heal(edit, series, incident) == size
    assert seen_to_heal(edit, a_series(AGAIN), incident) is None
    assert seen_to_heal(None, series, incident) is None
    series.done["stable-op"] = True
    changed = concluded(facts, [a_log()], series).change
    if size is not None:
        assert "clamp_min(0.001)" in changed.after[0]
