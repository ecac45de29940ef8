"""At the onset of a growth: how calm it was before, how far it went, and what the verdict keeps."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.diagnosis.onset import at_onset, began
from debugtracer.testing import a_birth, some_facts
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Suspect, Verdict


def facts(*losses, iteration=None):
    made = some_facts(a_birth("aten::log", kind="overflow"))
    at = len(losses) if iteration is None else iteration
    return msgspec.structs.replace(made, ref=StepRef(iteration=at, step=at), recent={"loss": list(losses)})


def a_finding(iteration, kind="data_blank_sample", layer="data", exact=False, severity="warning", rank=0):
    return Finding(
        check=f"{layer}/x", layer=layer, severity=severity, kind=kind, exact=exact, confidence=0.8, rank=rank,
        iteration=iteration, step=iteration, symptom="loss_spike",
        message=f"step {iteration}, rank {rank}: odd; expected even",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("losses", "at", "later", "expected"),
    [
        ((1.0, 1.0, 1.0, 10.1, 99.0), 3, 0, True),
        ((1.0, 1.0, 1.0, 10.0, 99.0), 3, 0, False),
        ((1.0, 1.0, 1.0, "NaN", 99.0), 3, 0, True),
        ((1.0, 1.0, 1.0, 1.0, 99.0), 3, 0, False),
        ((1.0, 1.0, 1.0, 1.0, 99.0), 3, 1, True),
        ((1.0, 1.0, 1.0, 1.0), 4, 1, True),
        ((1.0, 1.0, 1.0, 1.0), 4, 0, False),
        ((1.0, 1.0, 99.0), 2, 0, False),
        ((1.0, 1.0, 10.0, 101.0), 3, 0, True),
        ((1.0, 1.0, 10.1, 999.0), 3, 0, False),
        ((1.0, "Infinity", 1.0, "NaN"), 3, 0, False),
        ((1.0, "NaN", 1.0, 99.0), 3, 0, False),
        ((-1.0, 1.0, -1.0, -10.1), 3, 0, True),
    ],
)
def test_a_loss_leaves_a_calm_range_by_more_than_ten_times(losses, at, later, expected):
    assert at_onset(facts(*losses), a_finding(at), later) is expected


GROWTH = (1.0, 1.0, 1.0, 99.0, 999.0)


def a_verdict(kind="lr_too_high", status="likely", **more):
    return Verdict(
        kind=kind, cause=kind and kind.replace("_", "-"), symptom="nan_loss", layer="optimizer", iteration=5, step=5,
        status=status, confidence=0.7, summary="s", **{"remedy": ("clip the gradients", "lower the rate")} | more,
    )  # fmt: skip


def kinds(verdict):
    return verdict.kind, [suspect.kind for suspect in verdict.suspects]


def test_the_data_at_the_onset_comes_before_the_growth():
    found = began(facts(*GROWTH), a_verdict(), [a_finding(3)])
    assert kinds(found) == ("data_blank_sample", ["lr_too_high"])
    assert found.remedy[-1] == "clip the gradients" and "the batch of step 3 had" in found.evidence[0]
    assert found.suspects[0].confidence == 0.7 and found.suspects[0].cause == "lr-too-high"


@pytest.mark.parametrize("verdict", [a_verdict(status="confirmed"), a_verdict("silent_data_corruption")])
def test_a_verdict_that_is_sure_stays(verdict):
    assert began(facts(*GROWTH), verdict, [a_finding(3), machine(3)]) is verdict


@pytest.mark.parametrize(
    "finding",
    [
        a_finding(4),
        a_finding(3, layer="model"),
        a_finding(3, rank=1),
        a_finding(3, kind=None),
    ],
)
def test_a_finding_of_another_step_layer_or_rank_began_nothing(finding):
    verdict = a_verdict()
    assert began(facts(*GROWTH), verdict, [finding]) is verdict


def test_what_is_no_growth_began_with_no_batch_and_no_larger_update():
    verdict = a_verdict("log_domain")
    larger = a_finding(0, "accumulation_unscaled", "optimizer")
    assert began(facts(*GROWTH), verdict, [a_finding(3), larger]) is verdict
    assert began(facts(*GROWTH), a_verdict(), [larger]).kind == "accumulation_unscaled"


def machine(at, exact=True):
    return a_finding(at, "silent_data_corruption", "device", exact)


def test_a_machine_that_changed_a_value_may_be_seen_a_step_early_and_whatever_was_seen_after():
    for verdict in (a_verdict(), a_verdict("log_domain"), a_verdict(None)):
        found = began(facts(*GROWTH), verdict, [a_finding(3), machine(2), machine(3)])
        assert found.kind == "silent_data_corruption" and "clip the gradients" not in found.remedy
    verdict = a_verdict("log_domain")
    assert began(facts(*GROWTH), verdict, [machine(3, exact=False)]) is verdict
    assert began(facts(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), verdict, [machine(3)]) is verdict


def test_other_suspects_stay_and_none_comes_twice():
    others = tuple(
        Suspect(kind=kind, cause=kind, confidence=0.1, status="possible")
        for kind in ("lr_too_high", "data_blank_sample", "exploding_gradients")
    )
    found = began(facts(*GROWTH), a_verdict(suspects=others), [a_finding(3)])
    assert kinds(found) == ("data_blank_sample", ["lr_too_high", "exploding_gradients"])
    unnamed = began(facts(*GROWTH), a_verdict(None), [machine(3)])
    assert kinds(unnamed) == ("silent_data_corruption", [])
