"""Batches that are hard for all rows although their inputs are ordinary."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.label_noise_batch import LabelNoiseBatch
from debugtracer.trace.facts.loss_rows import LossRows
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.went_back import WentBack
from tests.checks.data.batches import a_profile, an_oddity, at, judged


def rows(step, raised=0.9, **more):
    known = {
        "loss": "NllLossBackward0",
        "value": 3.1,
        "usual": 0.42,
        "rows": 16,
        "median": 3.0,
        "mad": 0.4,
        "top_share": 0.1,
        "samples": (2 * step, 2 * step + 1),
    }
    return LossRows(ref=at(step), raised=raised, **{**known, **more})


def run(at_steps, losses, knows=True, extra=()):
    steps = [
        [*([a_profile()] if knows else []), *at_steps.get(n, []), *[f for f in extra if f.ref.step == n]]
        for n in range(len(losses))
    ]
    return judged(LabelNoiseBatch(), steps, losses)


CALM = [0.42] * 10


def test_two_hard_batches_of_ordinary_inputs_are_named_when_the_loss_is_back():
    (finding,) = run({5: [rows(5)], 6: [rows(6, 0.97)]}, [*CALM[:5], 3.1, 3.0, 0.43, 0.42])
    assert finding.message == (
        "step 5, rank 0: the loss of 2 steps is 3.1 (usual 0.42) in 90 % of their rows, while the inputs are like all "
        "others and the next step is back "
        "(samples 10..13); expected labels that fit. Compare labels and inputs of these samples."
    )
    assert (finding.severity, finding.kind, finding.place.sample_index, finding.step) == (
        "warning",
        "data_label_noise",
        (10, 11, 12, 13),
        5,
    )


def test_a_loss_that_a_roll_back_of_ours_brought_back_says_nothing_of_labels():
    back = WentBack(ref=at(7), to_step=1)
    assert not run({5: [rows(5)], 6: [rows(6)]}, [*CALM[:5], 3.1, 3.0, 0.43, 0.42], extra=[back])


def test_losses_of_an_actor_and_a_critic_are_not_compared():
    turns = TurnsTaken(ref=at(7), optimizer="Adam", other="Adam")
    assert not run({5: [rows(5)], 6: [rows(6)]}, [*CALM[:5], 3.1, 3.0, 0.43, 0.42], extra=[turns])


@pytest.mark.parametrize(("first", "severity"), [(60.0, "warning"), (64.0, "note")])
def test_the_hard_rows_of_a_model_that_has_learnt_them_are_a_note(first, severity):
    (finding,) = run({5: [rows(5)], 6: [rows(6)]}, [first, *CALM[:4], 3.1, 3.0, 0.43, 0.42])
    assert finding.severity == severity


def test_a_learning_rate_that_is_too_high_heals_slowly():
    assert not run({5: [rows(5)], 6: [rows(6)]}, [*CALM[:5], 3.1, 3.0, 1.2, 0.8, 0.5])


@pytest.mark.parametrize("what", ["content", "range", "nonfinite", "ngram"])
def test_unlike_inputs_explain_it_better(what):
    assert not run({5: [rows(5)]}, [*CALM[:5], 3.1, 0.42], extra=[an_oddity(what, 5)])


def test_a_few_rows_are_hard_together_by_chance_and_one_step_that_is_a_little_hard_is_a_note():
    assert not run({5: [rows(5, rows=2)], 6: [rows(6, rows=2)]}, [*CALM[:5], 3.1, 3.0, 0.43, 0.42])
    assert [f.severity for f in run({5: [rows(5, value=0.9)]}, [*CALM[:5], 0.9, 0.42])] == ["note"]


def test_one_hard_row_is_not_the_labels_of_a_batch():
    assert not run({5: [rows(5, 0.1)]}, [*CALM[:5], 3.1, 0.42])


def test_without_knowing_the_inputs_nothing_is_said():
    assert not run({5: [rows(5)]}, [*CALM[:5], 3.1, 0.42], knows=False)


def test_a_long_run_is_another_data_set():
    assert not run({n: [rows(n)] for n in range(5, 13)}, [*CALM[:5], *[3.0] * 8, 0.42])
