"""Does an optimizer hold parameters that are frozen?"""

from __future__ import annotations

from msgspec.structs import replace

from debugtracer.checks.model.frozen_held import FrozenHeld
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring
from tests.checks.facts_at import judged, line, ref


def wiring(step: int, *trainable: bool, held: int = 1) -> Wiring:
    params = tuple(
        ParamWiring(name=f"p{k}", numel=4, trainable=t, held=held, has_grad=t) for k, t in enumerate(trainable)
    )
    return Wiring(ref=ref(step), params=params, optimizers=())


def test_frozen_parameters_of_an_optimizer_are_one_note():
    (finding,) = judged(FrozenHeld(), [wiring(0, False, True, True), wiring(1, False, True, True)])
    assert finding.message == (
        "step 0, rank 0: 1 of 3 parameters in the optimizers have requires_grad False (p0, ...): they stay as they "
        "are; "
        "expected that only if they are frozen on purpose. Set requires_grad_(True) otherwise."
    )
    assert finding.severity == "note"


def test_frozen_ones_outside_any_optimizer_and_trainable_ones_are_silent():
    assert not judged(FrozenHeld(), [wiring(0, True, True), wiring(1, False, held=0)])


def idle(step: int, idle: bool = True) -> Wiring:
    one = OptimizerWiring(kind="SGD", frame=line(12), held=3, strangers=0, idle=idle)
    return Wiring(ref=ref(step), params=(), optimizers=(one,))


def test_an_optimizer_that_can_change_nothing_is_an_exact_error_at_its_constructor():
    (finding,) = judged(FrozenHeld(), [idle(0), idle(1), idle(2)])
    assert (finding.severity, finding.exact, finding.kind, finding.step) == ("error", True, "parameters_not_updated", 1)
    assert finding.place.frame == line(12)
    assert "none of the 3 parameters that SGD (train.py:12) holds can be trained" in finding.message


def test_one_step_of_a_frozen_optimizer_is_not_enough():
    assert not judged(FrozenHeld(), [idle(0), idle(1, idle=False)])


def test_a_fixed_table_beside_the_layers_is_silent():
    rows = [
        ParamWiring(name="pos_embed", numel=4, trainable=False, held=1, has_grad=False, table=True),
        ParamWiring(name="head.weight", numel=4, trainable=True, held=1, has_grad=True),
    ]
    assert not judged(FrozenHeld(), [Wiring(ref=ref(0), params=tuple(rows), optimizers=())])


def test_what_is_frozen_a_second_time_is_told_at_that_line_when_it_never_trained():
    facts = [replace(wiring(step, False, True), frozen_again=line(30)) for step in (0, 9)]
    note, finding = judged(FrozenHeld(), facts, ended=True)
    assert (note.severity, finding.severity, finding.place.frame) == ("note", "warning", line(30))
    assert "train.py:30 freezes them again" in finding.message


def test_what_trained_at_one_look_is_silent_at_the_end():
    facts = [wiring(0, False, True), replace(wiring(9, True, True), frozen_again=line(30))]
    assert [f.severity for f in judged(FrozenHeld(), facts, ended=True)] == ["note"]
