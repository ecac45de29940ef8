"""Does some optimizer hold every parameter that receives a gradient?"""

from __future__ import annotations

from debugtracer.checks.optimizer.missing_params import MissingParams
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring
from tests.checks.facts_at import judged, line, ref


def param(name: str, held: int = 1, trainable: bool = True, has_grad: bool = True) -> ParamWiring:
    return ParamWiring(name=name, numel=64, trainable=trainable, held=held, has_grad=has_grad)


def wiring(*params: ParamWiring, strangers: int = 0) -> Wiring:
    shapes = ((9, 32),) if strangers else ()
    optimizer = OptimizerWiring(kind="SGD", frame=line(42), held=4, strangers=strangers, stranger_shapes=shapes)
    return Wiring(ref=ref(), params=params, optimizers=(optimizer,))


def test_a_replaced_head_is_told_with_what_the_optimizer_holds_instead():
    (finding,) = judged(MissingParams(), [wiring(param("body.weight"), param("fc.weight", held=0), strangers=2)])
    assert finding.message == (
        "step 0, rank 0: fc.weight of 2 trainable parameters receive gradients and no optimizer holds them; SGD holds "
        "2 parameters of shape (9, 32) that no module uses; expected each trainable parameter in one group. Build the "
        "optimizer after the last change to the model."
    )
    assert (finding.severity, finding.exact, finding.place.param, finding.place.module, finding.place.frame.line) == (
        "error",
        True,
        "fc.weight",
        "fc",
        42,
    )


def test_a_part_left_out_is_a_note():
    assert [f.severity for f in judged(MissingParams(), [wiring(param("a"), param("b", held=0))])] == ["note"]


def test_frozen_parts_and_parts_without_gradient_are_silent():
    assert not judged(
        MissingParams(),
        [wiring(param("a"), param("b", held=0, trainable=False), param("c", held=0, has_grad=False), strangers=2)],
    )
