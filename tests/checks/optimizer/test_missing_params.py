"""Does some optimizer hold every parameter that receives a gradient?"""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.missing_params import MissingParams
from debugtracer.trace.birth import Frame
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


def test_a_group_is_told_once_and_another_one_again():
    one, more = wiring(param("a"), param("b", held=0)), wiring(param("a", held=0), param("b", held=0))
    said = [finding.message for finding in judged(MissingParams(), [one, one, more, one, more])]
    assert [" and 1 more" in message for message in said] == [False, True]


def test_frozen_parts_and_parts_without_gradient_are_silent():
    assert not judged(
        MissingParams(),
        [wiring(param("a"), param("b", held=0, trainable=False), param("c", held=0, has_grad=False), strangers=2)],
    )


def test_the_list_that_the_optimizer_is_given_is_the_line_to_edit():
    optimizer = OptimizerWiring(kind="SGD", frame=line(42), held=1, strangers=0, groups=line(38))
    fact = Wiring(ref=ref(), params=(param("a"), param("b", held=0)), optimizers=(optimizer,))
    (finding,) = judged(MissingParams(), [fact])
    assert (finding.place.frame.line, finding.place.symptom_frame.line) == (38, 42)
    assert "; SGD (train.py:42) is given the list of line 38; expected" in finding.message


def gan(shared: int, *held: int, unheld_gradients: bool = True) -> Wiring:
    made = [("netG", held[0]), ("netG", held[1]), ("netD", 2)]
    params = tuple(
        ParamWiring(name=f"main.{n}.weight", numel=4, trainable=True, held=h, has_grad=True, model=model)
        for n, (model, h) in enumerate(made)
    )
    known = {"kind": "Adam", "held": 1, "strangers": 0, "models": ("netD",), "shared": shared}
    of_d, of_g = (
        OptimizerWiring(frame=line(14 + n), unheld_gradients=unheld_gradients and n == 1, **known) for n in range(2)
    )
    return Wiring(ref=ref(), params=params, optimizers=(of_d, of_g))


def test_an_optimizer_with_the_parameters_of_the_other_model_is_named_with_both():
    (finding,) = judged(MissingParams(), [gan(1, 0, 0)])
    assert (finding.severity, finding.place.param, finding.place.frame.line) == ("error", "netG.main.0.weight", 15)
    assert finding.message == (
        "step 0, rank 0: netG.main.0.weight and 1 more receive gradients and no optimizer holds them; Adam "
        "(train.py:15) holds the 1 parameters of netD, which another optimizer holds too; expected the parameters "
        "of netG. Give netG.parameters() to one of them."
    )


def test_a_part_of_a_model_left_out_and_optimizers_of_their_own_are_another_matter():
    assert [f.severity for f in judged(MissingParams(), [gan(1, 0, 1)])] == ["note"]
    assert judged(MissingParams(), [gan(1, 0, 0, unheld_gradients=False)]) == []  # the step of the other one
    (finding,) = judged(MissingParams(), [gan(0, 0, 0)])
    assert (finding.severity, finding.place.param) == ("note", "netG.main.0.weight")


def test_a_part_that_is_unfrozen_and_held_by_nobody_is_a_warning():
    frozen = wiring(param("a"), param("b", held=0, trainable=False, has_grad=False))
    (finding,) = judged(MissingParams(), [frozen, wiring(param("a"), param("b", held=0))])
    assert (finding.severity, finding.place.param, finding.place.frame.line) == ("warning", "b", 42)
    assert finding.message == (
        "step 0, rank 0: b of 2 trainable parameters receive gradients and no optimizer holds them, and they were "
        "frozen in an earlier step; expected each trainable parameter in one group. Build the optimizer from all "
        "parameters, or hand over those that are unfrozen."
    )
    assert judged(MissingParams(), [frozen, wiring(param("a"), param("b"))]) == []  # held from the start


def test_a_model_made_again_is_told_at_that_line():
    fact = wiring(param("body.weight", held=0), param("fc.weight", held=0), strangers=2)
    (finding,) = judged(MissingParams(), [msgspec.structs.replace(fact, second=line(57))])
    assert f"; the model is made again at {line(57).file.rpartition('/')[2]}:57; expected" in finding.message
    assert (finding.place.frame.line, finding.place.symptom_frame.line) == (57, 42)
    assert finding.remedy[0] == "make the model once: initialise the one that the optimizer was given"


def test_a_layer_put_in_after_a_framework_has_asked_for_the_optimizer_is_the_line_to_edit():
    for function, expected in (("Lit.configure_optimizers", (43, 81)), ("main", (81, 43))):
        built = Frame("lit.py", 81, function)
        optimizer = OptimizerWiring(kind="Adam", frame=built, held=2, strangers=2, stranger_shapes=((9, 32),))
        params = (param("body.weight"), param("fc.weight", held=0))
        fact = Wiring(ref=ref(), params=params, optimizers=(optimizer,), replaced=Frame("lit.py", 43, "on_fit_start"))
        (finding,) = judged(MissingParams(), [fact])
        assert (finding.place.frame.line, finding.place.symptom_frame.line) == expected


def test_what_a_later_stage_may_train_is_told_at_the_end_alone():
    early = msgspec.structs.replace(wiring(param("a"), param("b", held=0)), to_come=True)
    assert not judged(MissingParams(), [early])
    last = msgspec.structs.replace(early, to_come=False)
    assert [f.severity for f in judged(MissingParams(), [early, last])] == ["note"]
