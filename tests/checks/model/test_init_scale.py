"""Hidden layers that start too large or too small."""

from __future__ import annotations

import math

import pytest

from debugtracer.checks.model.init_scale import InitScale
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.equal_units import EqualUnits
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.facts.weights_filled import Filled, WeightsFilled
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window
from tests.checks.test_snapshots import an_activation, an_update, judged
from tests.trace.facts.test_health import a_row

WIDTH = 64


def a_start(
    *layers: tuple[float, float], step: int = 0, reach: float = 4.0, more: tuple[TensorHealth, ...] = ()
) -> Health:
    """Linear layers of 64x64 given as (standard deviation of the outputs, gain of the weights), and a head."""
    rows, params = [], []
    for number, (std, gain) in enumerate((*layers, (0.5, 0.58))):
        one = gain / math.sqrt(WIDTH)
        rows.append(an_activation(f"l{number}", "Linear", std=std, l2=std * 45.0))
        rows.append(a_row(f"l{number}.weight", shape=(WIDTH, WIDTH), std=one, low=-reach * one, high=reach * one))
        params.append(an_update(f"l{number}.weight", weight_l2=one * WIDTH))
    return Health(ref=StepRef(iteration=step, step=step), tensors=(*rows, *more), params=tuple(params))


def three(*layers: tuple[float, float], **more: object) -> list[Health]:
    return [a_start(*layers, step=step, **more) for step in range(3)]


def test_fires_on_weights_that_are_far_too_large():
    (finding,) = judged(InitScale(), *three((8.0, 8.0), (180.0, 16.0)))
    assert (finding.severity, finding.kind, finding.place.module, finding.step) == ("warning", "bad_init", "l1", 0)
    assert finding.message == (
        "step 0, rank 0: the outputs of l1 have a standard deviation of 1.8e+02 at the start (its weights multiply by "
        "16), 22 times those of l0; "
        "expected 0.05..20. Initialise with kaiming_normal_."
    )


def test_a_little_too_large_or_with_a_normalisation_is_a_note():
    assert judged(InitScale(), *three((8.0, 8.0), (30.0, 5.0)))[0].severity == "note"
    norm = (an_activation("norm", "BatchNorm1d"),)
    assert judged(InitScale(), *three((8.0, 8.0), (180.0, 16.0), more=norm))[0].severity == "note"


def test_all_hidden_layers_too_small_is_a_note():
    (finding,) = judged(InitScale(), *three((0.01, 0.008), (0.0001, 0.008)))
    assert (finding.severity, finding.place.module) == ("note", "l1")
    assert judged(InitScale(), *three((0.01, 0.008), (0.0001, 0.008), more=(an_activation("norm", "LayerNorm"),))) == []


@pytest.mark.parametrize(
    "layers",
    [
        ((1.0, 1.4), (0.9, 1.4)),
        ((40.0, 0.58), (25.0, 0.58)),  # large inputs
        ((1.0, 0.58), (0.004, 0.01)),  # the small end of a residual branch
        ((0.01, 0.16), (0.0016, 0.16)),  # 0.02 at width 64
        ((0.0, 0.0), (0.0, 0.0)),  # zero-initialised branches
    ],
)
def test_stays_silent_on_usual_starts(layers):
    assert judged(InitScale(), *three(*layers)) == []


def test_stays_silent_on_weights_that_were_trained_before():
    assert judged(InitScale(), *three((8.0, 8.0), (180.0, 16.0), reach=12.0)) == []


def test_stays_silent_when_others_have_told_it():
    facts = three((8.0, 8.0), (180.0, 16.0))
    for grad_equal, said in ((True, 0), (False, 1)):  # a head that starts at 0 has other gradients
        equal = EqualUnits(
            ref=facts[0].ref, param="l0.weight", module="l0", shape=(64, 64), units=64, grad_equal=grad_equal
        )
        window = Window(ref=facts[-1].ref, facts={Health: facts, EqualUnits: [equal]}, came={Health: 1}, memories={})
        assert len(list(InitScale().judge(window))) == said
    # model/activation-growth
    assert judged(InitScale(), *three((45.0, 11.0), (5e2, 11.0), (5e3, 11.0), (5e4, 11.0))) == []


def test_at_the_threshold():
    assert judged(InitScale(), *three((20.0, 5.0))) == []
    assert len(judged(InitScale(), *three((20.1, 5.0)))) == 1
    assert judged(InitScale(), *three((20.1, 4.0))) == []


def test_the_line_that_filled_the_weight_is_named():
    facts = three((8.0, 8.0), (180.0, 16.0))
    line = Frame(file="train.py", line=15, function="Energy.__init__", code="nn.init.normal_(layer.weight)")
    filled = WeightsFilled(ref=facts[0].ref, rows=(Filled(param="l1.weight", function="normal_", frame=line),))
    window = Window(ref=facts[-1].ref, facts={Health: facts, WeightsFilled: [filled]}, came={Health: 1}, memories={})
    (finding,) = InitScale().judge(window)
    assert (finding.place.param, finding.place.frame) == ("l1.weight", line)
