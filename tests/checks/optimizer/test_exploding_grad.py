"""Gradients that explode."""

from __future__ import annotations

import math

from debugtracer.checks.optimizer.exploding_grad import ExplodingGrad
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.window import Window
from tests.spikes.series import falling, findings, ref


def test_fires_at_the_second_step_of_a_run():
    found = findings(ExplodingGrad(), [0.85, 124.6, 2.1], grad_l2=[24.0, 1811.0, 2.9], param_l2=[8.1, 53.4, 101.8])
    assert [f.message for f in found] == [
        "step 1, rank 0: the gradient norm is 1811, 75.5 times the largest before, the loss 124.6, 147 times; the "
        "update multiplied the norm of the parameters by 6.59; expected less than 30 times. Clip before step(): "
        "torch.nn.utils.clip_grad_norm_(params, 1.0)."
    ]
    assert (found[0].kind, found[0].severity, found[0].iteration) == ("exploding_gradients", "warning", 1)


def test_a_known_run_needs_less():
    losses, norms = falling(100), falling(100, seed=1)
    losses[80], norms[80] = 10.0, 40.0
    assert len(findings(ExplodingGrad(), losses, grad_l2=norms)) == 1


def test_stays_silent_when_the_update_was_bounded():
    losses, norms = falling(100), falling(100, seed=1)
    losses[80], norms[80] = 100.0, 400.0
    assert not findings(ExplodingGrad(), losses, grad_l2=norms, param_l2=[10.0] * 100)


def test_stays_silent_when_a_converged_run_jumps_below_its_first_steps():
    losses, norms = falling(200, end=0.001), falling(200, end=0.001, seed=1)
    losses[150], norms[150] = 2.0, 3.0
    assert not findings(ExplodingGrad(), losses, grad_l2=norms)


def test_stays_silent_when_only_the_gradient_grows():
    assert not findings(ExplodingGrad(), [1.0, 1.0, 0.9], grad_l2=[1e-4, 1.0, 2.0])


def test_a_learning_rate_that_jumped_is_the_cause():
    losses, norms = falling(100), falling(100, seed=1)
    losses[80], norms[80] = 10.0, 40.0
    (found,) = findings(ExplodingGrad(), losses, grad_l2=norms, lr=[0.1] * 78 + [1.0] * 22)
    assert found.kind == "lr_too_high"


def test_a_search_for_the_rate_is_a_note():
    losses, norms = falling(100), falling(100, seed=1)
    losses[80], norms[80] = 10.0, 40.0
    (found,) = findings(ExplodingGrad(), losses, grad_l2=norms, lr=[1e-6 * 1.1**n for n in range(100)])
    assert (found.severity, found.message.endswith("Nothing if it is one.")) == ("note", True)


def test_one_explosion_is_told_once():
    losses = [1.0] * 40 + [10.0 ** (i + 1) for i in range(20)]
    norms = [1.0] * 40 + [20.0 ** (i + 1) for i in range(20)]
    assert len(findings(ExplodingGrad(), losses, grad_l2=norms)) == 1


def gradient(name: str, l2: float) -> TensorHealth:
    return TensorHealth(
        name=name,
        role="gradient",
        shape=(4, 4),
        dtype="float32",
        sampled=16,
        mean=0.0,
        std=1.0,
        low=-1.0,
        high=1.0,
        l2=l2,
        zero_share=0.0,
    )


def test_the_parameter_with_most_of_the_gradient_is_named_if_it_was_looked_at_in_that_step():
    def at(step: int, *rows: TensorHealth) -> Window:
        return Window(ref(1), facts={Health: [Health(ref=ref(step), tensors=rows)]})

    place = ExplodingGrad().place(at(1, gradient("rnn.weight_hh_l0", 1600.0), gradient("head.weight", 500.0)), 0.0)
    assert (place.param, place.module) == ("rnn.weight_hh_l0", "rnn")
    assert ExplodingGrad().place(at(0, gradient("rnn.weight_hh_l0", 1600.0)), 0.0).param is None
    assert ExplodingGrad().place(at(1, *(gradient(f"{i}.weight", 9.0) for i in range(4))), 0.0).param is None


def explosion(rates: list[float]):
    losses, norms = falling(200), falling(200, seed=1)
    losses[199], norms[199] = 10.0, 40.0
    (found,) = findings(ExplodingGrad(), losses, grad_l2=norms, lr=rates)
    return found


def test_a_rate_that_climbed_all_the_way_is_the_cause():
    found = explosion([2e-3 * 1.03**step for step in range(200)])
    assert found.kind == "lr_too_high"
    assert "the learning rate had climbed to 18.9 times its mean so far" in found.message


def test_a_warm_up_is_no_climb():
    assert explosion([1e-3 * step / 200 for step in range(200)]).kind == "exploding_gradients"
    assert explosion([1e-3 * (1 - math.cos(math.pi * step / 200)) for step in range(200)]).kind == "exploding_gradients"


def test_a_program_that_clips_is_not_told_to_clip():
    losses, norms = falling(200), falling(200, seed=1)
    losses[199], norms[199] = 10.0, 40.0
    (found,) = findings(ExplodingGrad(), losses, [ClipLimit(ref=ref(0), limit=0.5)], grad_l2=norms)
    assert (found.severity, "Clip before step()" in found.message) == ("note", False)
    assert found.message.endswith("The program clips at 0.5 already: look at the batch of this step.")
    assert not any("clip_grad_norm_" in remedy for remedy in found.remedy)
