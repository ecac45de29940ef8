"""The contract of causes."""

from __future__ import annotations

import dataclasses
import itertools
from typing import ClassVar

import pytest

from debugtracer.causes.cause import CAUTIOUS, Cause, Evidence, Signs, causes, weighed
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.rewrite.rewritten import EDITS
from debugtracer.checks.check import checks
from debugtracer.interventions.intervention import NARROW, interventions
from debugtracer.testing import a_birth, some_facts
from debugtracer.trace.finding import LAYERS
from tests.causes.test_finding_evidence import said
from tests.each import each

INTERVENTIONS = {
    "unchanged", "full-precision", "without-sample", "sanitised-batch", "other-batch", "lower-lr", "clipped-gradient",
    "fresh-moments", "larger-eps", "older-weights", "reseeded", "reference-device", "stable-op", "loss-scale",
    "one-rank-alone", "augmentation-off", "bypass-module", "standard-module", "other-activation", "reinit-layer",
    "other-optimizer", "larger-batch", "reordered-batches", "one-line-fix", "run-eagerly",
}  # fmt: skip
TAXONOMY = (
    "data_nonfinite", "normalisation_zero_std", "label_out_of_range", "labels_all_ignored", "label_mask_wrong",
    "data_hard_samples", "worker_rng_duplicate", "slow_dataloader", "tokenizer_mismatch", "token_out_of_range",
    "norm_degenerate_batch", "masked_softmax_all_masked", "backward_nan_op", "pow_domain", "log_domain",
    "zero_division", "exp_overflow", "custom_backward_wrong", "fp16_overflow", "zero_norm", "norm_eps_underflow",
    "logit_saturation", "label_smoothing_misuse", "amp_scaler_collapse", "amp_clip_scaled_grads", "amp_double_unscale",
    "lr_too_high", "scheduler_misuse", "exploding_gradients", "stale_gradients", "optimizer_params_mismatch",
    "optimizer_eps_underflow", "adam_instability", "weight_decay_on_norms", "resume_state", "vanishing_gradients",
    "dead_relu", "bad_init", "loss_misuse", "inplace_modified", "label_leak", "detached_graph", "unregistered_params",
    "train_eval_mode", "ddp_duplicate_data", "ddp_desync", "ddp_replica_drift", "ddp_unused_params",
    "silent_data_corruption", "memory_leak_graph",
)  # fmt: skip
FALLBACKS = {
    "activation-overflow", "indeterminate-form",
}  # fmt: skip
OF_INCIDENTS_ALONE = {
    "class-weights-zero", "compiled-differs", "too-few-values", "uninitialised-memory", "weights-overwritten",
}  # fmt: skip


@each("slug", causes())
def test_every_cause_has_a_class_word_and_a_layer(slug):
    cause = causes()[slug]
    assert cause.slug == slug
    assert cause.kind.replace("_", "").isalnum()
    assert cause.kind == cause.kind.lower()
    assert cause.kind != "healthy"
    assert cause.layer in LAYERS


@each("slug", causes())
def test_what_a_cause_names_exists_and_its_page_can_be_written(slug):
    cause = causes()[slug]
    assert {*cause.proved_by, *cause.refuted_by} <= INTERVENTIONS
    assert not set(cause.proved_by) & set(cause.refuted_by)
    assert {*cause.supports, *cause.contradicts} <= set(checks())
    assert not set(cause.supports) & set(cause.contradicts)
    assert set(cause.rewrites) <= set(EDITS)
    assert cause.proved_by and cause.remedies and (type(cause).__doc__ or "").endswith(".")


@each("slug", causes())
def test_the_narrowest_proof_is_named_first(slug):
    known = interventions()
    scopes = [NARROW.index(known[name].scope) for name in causes()[slug].proved_by if name in known]
    assert scopes == sorted(scopes)


def test_every_class_of_the_taxonomy_and_of_the_checks_has_one_cause_that_uses_findings():
    hearing = [cause.kind for cause in causes().values() if cause.uses_findings]
    assert len(hearing) == len(set(hearing))
    assert {check.kind for check in checks().values() if check.kind} <= set(hearing)
    assert set(TAXONOMY) <= set(hearing)


@each("slug", causes())
def test_no_cause_stumbles_over_a_birth_without_tensors_or_frames(slug):
    kinds = ("overflow", "domain", "inf-inf", "0/0", "0*inf", "uninitialised", "input")
    for direction, kind in itertools.product(("forward", "backward", "update", "input"), kinds):
        birth = a_birth(None if kind == "input" else "aten::div", direction=direction, kind=kind)
        evidence = causes()[slug].evidence_from_incident(
            IncidentEvidence(some_facts(birth, loader=None, optimizer=None, replay=None, recent={}))
        )
        assert evidence is None or (0 < evidence.confidence <= 1 and evidence.because and evidence.remedies), (
            direction,
            kind,
        )
        assert evidence is None or "; " not in evidence.because, (direction, kind)  # the summary is cut there


class Steep(Cause):
    """The rate is too high."""

    kind: ClassVar[str] = "lr_too_high"
    supports: ClassVar[tuple[str, ...]] = ("optimizer/loss-spike", "optimizer/update-ratio", "numerics/scaler-backoff")
    contradicts: ClassVar[tuple[str, ...]] = ("data/hard-samples", "data/outlier-sample")
    remedies: ClassVar[tuple[str, ...]] = ("divide it by 10",)


DIVERGED = said(
    "optimizer/loss-divergence", kind="lr_too_high", confidence=0.6, message="step 9, rank 0: the loss grows"
)
JUMPED = said("optimizer/loss-spike", message="step 8, rank 0: the loss jumps")
UPDATES = said("optimizer/update-ratio", message="step 7, rank 0: updates of 0.3")
HARD = said("data/hard-samples", message="step 8, rank 0: hard samples")


def from_findings(*findings):
    evidence = Steep().evidence_from_findings(FindingEvidence(findings))
    assert evidence is not None
    return evidence


def test_a_cause_says_what_the_best_finding_of_its_class_says():
    evidence = from_findings(JUMPED, DIVERGED)
    assert evidence.leading == DIVERGED
    assert (evidence.because, evidence.remedies, evidence.exact) == (DIVERGED.message, ("divide it by 10",), False)
    assert evidence.evidence == (DIVERGED.message, JUMPED.message)


def test_a_supporting_family_adds_one_bit_and_the_own_family_none():
    assert from_findings(DIVERGED).confidence == pytest.approx(0.6)
    assert from_findings(DIVERGED, JUMPED).confidence == pytest.approx(0.6)  # both look at the loss
    assert from_findings(DIVERGED, UPDATES).confidence == pytest.approx(weighed(0.6, 1)) == pytest.approx(0.75)
    assert from_findings(DIVERGED, UPDATES, UPDATES).confidence == pytest.approx(0.75)


def test_a_contradicting_family_takes_two_bits_once_and_is_told():
    other = said("data/outlier-sample", message="step 8, rank 0: an outlier")
    evidence = from_findings(DIVERGED, HARD, other)
    assert evidence.confidence == pytest.approx(weighed(0.6, -2))
    assert evidence.against == (HARD.message, other.message)


def test_a_guess_stays_below_a_proof_and_a_proof_is_not_argued_with():
    backoff = said("numerics/scaler-backoff")
    sure = said("optimizer/loss-divergence", kind="lr_too_high", confidence=0.94)
    assert from_findings(sure, UPDATES, backoff).confidence == CAUTIOUS
    proof = said("optimizer/lr-zero", kind="lr_too_high", exact=True, confidence=0.6)
    assert from_findings(proof, HARD).exact and from_findings(proof, HARD).confidence == 0.97


def test_a_cause_is_silent_without_a_loud_finding_of_its_class_or_where_another_uses_it():
    class Deaf(Steep):
        uses_findings: ClassVar[bool] = False

    quiet = said("optimizer/loss-divergence", "note", kind="lr_too_high")
    assert Steep().evidence_from_findings(FindingEvidence((JUMPED, UPDATES, quiet))) is None
    assert Deaf().evidence_from_findings(FindingEvidence((DIVERGED,))) is None


def test_a_cause_written_before_is_asked_by_the_former_names():
    class Before(Cause):
        kind: ClassVar[str] = "lr_too_high"
        hears: ClassVar[bool] = False

        def signs(self, seen):
            return Signs(0.5, "it shines", ())

    before = Before()
    assert before.evidence_from_incident(IncidentEvidence(some_facts(None))) == Evidence(0.5, "it shines", ())
    assert not before.uses_findings and before.evidence_from_findings(FindingEvidence((DIVERGED,))) is None


def test_which_causes_only_name_the_arithmetic_and_which_hear_no_finding_is_decided_on_purpose():
    assert {slug for slug, cause in causes().items() if cause.fallback} == FALLBACKS
    assert {slug for slug, cause in causes().items() if not cause.uses_findings} == OF_INCIDENTS_ALONE


def test_what_a_cause_says_is_never_changed_afterwards():
    said = Evidence(0.5, "because", ("wait",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        said.exact = True  # type: ignore[misc]
