"""What is put together of an incident, value by value."""

from __future__ import annotations

import types

import pytest
import torch
from torch import nn

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.diagnosis import gather
from debugtracer.recorder.tape.entry import Slot
from debugtracer.trace.birth import Birth, Frame, TensorFacts
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.incident import OptimizerFacts
from debugtracer.trace.step import StepRef

REF = StepRef(iteration=0, step=0)
HERE, THERE = Frame("train.py", 9, "train"), Frame("other.py", 3, "rate")


def a_birth(**told) -> Birth:
    return Birth(**{"op": "aten::log", "direction": "forward", "kind": "domain"} | told)


def an_entry(kind="fn", refers=(), scalar=True, **told):
    return types.SimpleNamespace(kind=kind, references=lambda: list(refers), scalar=scalar, frames="frames", **told)


def an_alarm(entries=(), **told):
    given = {"symptom": "nan_loss", "loss": None, "loss_value": None, "step": 0, "iteration": 0}
    return types.SimpleNamespace(segment=types.SimpleNamespace(entries=list(entries)), **given | told)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, None),
        ({"loss_value": float("nan")}, "NaN"),
        ({"loss_value": 2.0, "loss": torch.tensor(3.0)}, 2.0),
        ({"loss": torch.tensor([float("inf")])}, "Infinity"),
        ({"loss": torch.ones(2)}, None),
    ],
)
def test_a_loss_is_one_number(told, expected):
    assert gather.loss_number(an_alarm(**told)) == expected


@pytest.mark.parametrize("differs", ["", "birth", "reproduced", "world_size", "symptom"])
def test_a_gradient_that_came_through_the_reduction_is_noted(differs):
    result = types.SimpleNamespace(
        birth=a_birth() if differs == "birth" else None,
        replay=types.SimpleNamespace(reproduced=differs == "reproduced"),
    )
    alarm = an_alarm(symptom="nan_loss" if differs == "symptom" else "inf_grad")
    said = gather.note(alarm, result, 1 if differs == "world_size" else 2)
    assert ("the reduction" in said) is (differs == "")


def test_the_note_of_an_edited_cell_stands_where_there_is_a_line(monkeypatch):
    monkeypatch.setattr(gather, "edited", lambda file: f"{file} was edited")
    assert gather.old_text(a_birth(frames=(HERE,))) == "train.py was edited"
    assert gather.old_text(a_birth()) == "" and gather.old_text(None) == ""


def a_call(name="cross_entropy", args=(), kwargs=None):
    function = types.SimpleNamespace(__name__=name)
    return an_entry(function=function, args=args, kwargs={} if kwargs is None else kwargs)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (a_call(kwargs={"label_smoothing": 0.1}), 0.1),
        (a_call(args=(0, 1, 2, 3, 4, 5, 6, 0.2)), 0.2),
        (a_call(args=(0, 1, 2, 3, 4, 5, 6)), 0.0),
        (a_call("nll_loss", kwargs={"label_smoothing": 0.1}), 0.0),
        (a_call(kwargs=("label_smoothing", 0.1)), 0.0),
        (a_call(kwargs={"label_smoothing": 1}), 1.0),
        (a_call(kwargs={"label_smoothing": "much"}), 0.0),
        (an_entry("module", function=nn.CrossEntropyLoss(label_smoothing=0.3)), 0.3),
        (an_entry("module", function=nn.Linear(1, 1)), 0.0),
    ],
)
def test_label_smoothing_is_that_of_the_call(entry, expected):
    assert gather.smoothing(an_alarm([a_call(), entry]), 1) == expected


@pytest.mark.parametrize("index", [None, -1, 1])
def test_no_call_has_no_label_smoothing(index):
    assert gather.smoothing(an_alarm([a_call(kwargs={"label_smoothing": 0.1})]), index) == 0.0


def test_the_maker_of_a_loss_is_found_behind_divisions_of_one_number():
    vector, other = an_entry(scalar=False), an_entry()
    loss = an_entry(refers=[Slot(0, 0, 0)])
    divided = an_entry(refers=[Slot(0, 2, 0), "a leaf"])
    both = an_entry(refers=[Slot(0, 2, 0), Slot(0, 1, 0)])
    entries = [vector, other, loss, divided, both]
    assert gather.maker(entries, Slot(0, 3, 0)) is loss
    assert gather.maker(entries, Slot(0, 4, 0)) is both
    entries[2] = an_entry("module")
    assert gather.maker(entries, Slot(0, 3, 0)) is entries[2]


def test_the_line_of_another_symptom_is_that_of_the_alarm():
    context = types.SimpleNamespace(frames=lambda raw: {"frames": (HERE,), "raised": (THERE,)}.get(raw, ()))
    told = {"slot": Slot(0, 0, 0), "frames": "raised"}
    assert gather.symptom_frame(an_alarm([an_entry()], **told), context) == HERE
    assert gather.symptom_frame(an_alarm([an_entry()], symptom="inf_grad", **told), context) == THERE
    assert gather.symptom_frame(an_alarm([an_entry()], slot=None, frames="raised"), context) == THERE
    assert gather.symptom_frame(an_alarm(slot=None, frames=None), context) is None


def test_the_optimizer_of_a_program_is_meant_where_it_is_the_only_one():
    first, second = (torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1) for _ in range(2))
    assert gather.only({first: 1}) is first
    assert gather.only({}) is None and gather.only({first: 1, second: 2}) is None and gather.only({"x": 1}) is None


def moved(**told) -> RateMoved:
    return RateMoved(
        **{"ref": REF, "optimizer": 0, "frame": HERE, "built": 0.1, "before": 0.1, "after": 0.2, "now": 0.2, "step": 0}
        | told
    )


def test_the_rate_that_moved_is_that_of_the_optimizer_as_it_is_now():
    optimizer = OptimizerFacts(kind="SGD", frame=HERE, lr=0.2)
    told = ["another fact", moved(frame=THERE), moved(now=0.3), moved()]
    assert gather.rate_of(told, optimizer) is told[3]
    assert gather.rate_of(told[:3], optimizer) is None and gather.rate_of(told, None) is None


def a_warning(*frames) -> NumericWarning:
    return NumericWarning("invalid value", frames)


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (HERE, True),
        (Frame("train.py", 9, "elsewhere"), True),
        (Frame("train.py", 11, "train"), True),
        (Frame("train.py", 11, "elsewhere"), False),
        (Frame("other.py", 9, "train"), False),
    ],
)
def test_a_warning_on_the_way_to_the_line_that_wrote_the_rate_names_its_own_line(frame, named):
    inner = Frame("formula.py", 2, "f")
    found = gather.warned_rate([moved(now="NaN", written=HERE)], [a_warning(inner, frame)])
    assert found == ((inner,) if named else ())


def test_of_warnings_the_last_is_meant_and_none_of_a_finite_rate():
    first, last = a_warning(Frame("formula.py", 2), HERE), a_warning(Frame("formula.py", 4), HERE)
    bad = moved(now="Infinity", scheduler_frame=HERE)
    assert gather.warned_rate([bad], [first, last, a_warning(THERE)]) == last.frames[:1]
    assert gather.warned_rate([moved(now=0.2, scheduler_frame=HERE)], [first]) == ()
    top = Frame("train.py", 9, "<module>")
    assert gather.warned_rate([moved(now="NaN", written=top)], [a_warning(Frame("train.py", 5, "<module>"))]) == ()


def of_places(monkeypatch, known, **told):
    monkeypatch.setattr(gather, "joined_samples", lambda batch, length: known)
    return gather.of_places("batch", a_birth(**told))


def test_places_of_a_joined_batch_name_their_samples_once(monkeypatch):
    output = TensorFacts(shape=(3, 2))
    places = ((2, 0), (1, 1), (2, 1))
    assert of_places(monkeypatch, (7, 5, 5), output=output, coordinates=places) == (5,)
    assert of_places(monkeypatch, (7, 4, 5), output=output, coordinates=places) == (4, 5)
    assert of_places(monkeypatch, None, output=output, coordinates=places) is None


@pytest.mark.parametrize(
    ("shape", "places"), [(None, ((0,),)), ((), ((0,),)), ((2,), ()), ((2,), ((),)), ((2,), ((0,), (1,)))]
)
def test_all_places_or_none_name_no_sample(monkeypatch, shape, places):
    output = TensorFacts(shape=shape) if shape is not None else None
    assert of_places(monkeypatch, (7, 5), output=output, coordinates=places) is None


@pytest.mark.parametrize(
    ("told", "batch"),
    [
        ({"kind": "domain", "input_name": "batch[0]"}, "batch"),
        ({"kind": "input", "input_name": None}, "batch"),
        ({"kind": "input", "input_name": "parameter weight"}, "batch"),
        ({"kind": "input", "input_name": "batch[0]"}, None),
    ],
)
def test_only_a_leaf_of_a_batch_is_followed_into_the_pipeline(monkeypatch, told, batch):
    monkeypatch.setattr(gather, "followed", lambda *asked: asked)
    assert gather.of_pipeline(a_birth(**told), batch) is None
    assert gather.of_pipeline(None, "batch") is None
    leaf = a_birth(kind="input", input_name="batch[0]", rows=(1,))
    assert gather.of_pipeline(leaf, "batch") == ("batch", "batch[0]", (1,))


@pytest.mark.parametrize(
    ("known", "in_order", "expected"), [((4,), True, (4,)), (None, True, None), (None, False, "by value")]
)
def test_rows_that_may_have_been_sorted_are_found_by_their_values(monkeypatch, known, in_order, expected):
    monkeypatch.setattr(gather, "samples_by_value", lambda batch, rows: "by value")
    loader = types.SimpleNamespace(keeps_order=in_order)
    batch = types.SimpleNamespace(samples=lambda rows: known, loader=loader)
    assert gather.samples_of(batch, (1,)) == expected


@pytest.mark.parametrize(
    ("step", "iteration", "expected"), [(0, 0, ("built",)), (1, 0, ("wrote",)), (0, 1, ("wrote",)), (1, 1, ("wrote",))]
)
def test_a_weight_that_no_update_has_touched_is_that_of_the_line_that_made_it(monkeypatch, step, iteration, expected):
    monkeypatch.setattr(gather, "constructed_lines", lambda name, roots, heard: ("built",) if name == "w" else ())
    monkeypatch.setattr(gather, "value_lines", lambda *asked: ("wrote",))
    context = types.SimpleNamespace(numeric_warnings=(), roots=None)
    result = types.SimpleNamespace(birth=a_birth(kind="input", input_name="w"), guilty=None)
    alarm = an_alarm(step=step, iteration=iteration)
    assert gather.made_lines(alarm, result, context, "", None) == expected


@pytest.mark.parametrize("birth", [None, a_birth(input_name="w"), a_birth(kind="input", input_name=None)])
def test_what_is_no_named_input_was_made_nowhere(monkeypatch, birth):
    monkeypatch.setattr(gather, "constructed_lines", lambda name, roots, heard: ("built",) if name else ())
    monkeypatch.setattr(gather, "value_lines", lambda *asked: None)
    context = types.SimpleNamespace(numeric_warnings=(), roots=None)
    result = types.SimpleNamespace(birth=birth, guilty=None)
    assert gather.made_lines(an_alarm(), result, context, "", None) == ()
