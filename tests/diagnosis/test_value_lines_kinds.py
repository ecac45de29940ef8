"""Which lines an incident of each kind is led back to, and what is not looked at."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest
import torch

from debugtracer.diagnosis import value_lines as module
from debugtracer.diagnosis.value_lines import (
    cut_line,
    filled,
    halves,
    spoiled,
    stored_lines,
    value_lines,
    zeros,
)
from debugtracer.trace.birth import Birth, Frame, TensorFacts

HERE, THERE = Frame("/home/someone/project/model.py", 9), Frame("/home/someone/project/data.py", 3)


def a_birth(op="aten::log", kind="domain", frames=(HERE,), **more) -> Birth:
    return Birth(op=op, direction="forward", kind=kind, frames=frames, **more)


@pytest.fixture
def told(monkeypatch):
    """Every way back answers its own name."""
    for name, answer in {
        "stored_lines": ("stored",),
        "nonfinite_first": ("outside",),
        "number_lines": ("number",),
        "zero_made": ("zero",),
        "weight_line": "weight",
        "infinite_line": "infinite",
        "filled": "filled",
        "of_the_mask": ("mask",),
        "object_built": "built",
    }.items():
        monkeypatch.setattr(module, name, lambda *asked, answer=answer, **more: answer)
    return monkeypatch


def a_pipeline(kind="stored", frame=THERE, refused=""):
    return SimpleNamespace(kind=kind, frame=frame, refused=refused, expression="self.x[i]", kept_in_half=False)


def test_what_a_sample_stored_comes_first(told):
    assert value_lines(a_birth(), None, "", a_pipeline()) == ("stored",)
    for other in (a_pipeline("made"), a_pipeline(frame=None), a_pipeline(refused="why"), None):
        assert value_lines(a_birth(op="aten::mul"), None, "", other) == ()
    told.setattr(module, "stored_lines", lambda *asked: ())
    assert value_lines(a_birth(op="aten::mul"), None, "", a_pipeline()) == ()
    assert value_lines(None, None, "", a_pipeline()) == ()


class Batch:
    """A batch of four rows whose loader says what it was asked."""

    rows = 4

    def __init__(self, rows=4) -> None:
        self.rows = rows
        self.loader = SimpleNamespace(
            made=lambda name: ("made", name), spoiled=lambda name, some, heard: ("spoiled", name, some)
        )


@pytest.mark.parametrize(
    ("rows", "of", "some"), [(None, 4, False), ((1,), 4, True), ((0, 1, 2, 3), 4, False), ((0,), None, False)]
)
def test_a_leaf_of_the_batch_is_led_back_by_its_loader(told, rows, of, some):
    birth = a_birth(kind="input", input_name="batch[0]", rows=rows)
    assert value_lines(birth, Batch(of), "") == ("spoiled", "batch[0]", some)
    assert value_lines(birth, None, "") == ()
    assert value_lines(a_birth(), Batch(), "batch[1]") == ("made", "batch[1]")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a tensor made before the step", ("outside",)),
        ("input x", ("outside",)),
        ("parameter w", ()),
        (None, ()),
    ],
)
def test_a_tensor_of_the_program_is_led_back_by_its_name(told, name, expected):
    assert value_lines(a_birth(kind="input", input_name=name), Batch(), "") == expected


@pytest.mark.parametrize(
    ("birth", "expected"),
    [
        (a_birth(number=0), ("number",)),
        (a_birth("aten::_weight_norm_interface"), ("weight",)),
        (a_birth("aten::sub.Tensor", "inf-inf"), ("infinite",)),
        (a_birth("aten::rsub", "inf-inf"), ("infinite",)),
        (a_birth("aten::add", "inf-inf"), ()),
        (a_birth("aten::sub", "0/0"), ()),
        (a_birth("aten::_softmax"), ("mask",)),
        (a_birth("aten::_scaled_dot_product_attention_math"), ("mask",)),
        (a_birth("aten::_softmax", frames=()), ()),
        (a_birth("aten::div", inputs=(TensorFacts(values=(0.0,)),)), ("zero",)),
        (a_birth("aten::div", inputs=(TensorFacts(values=(1.0,)), TensorFacts(values=(0.0, 0.0)))), ("zero",)),
        (a_birth("aten::div", inputs=(TensorFacts(values=(1.0,)),)), ()),
        (a_birth("aten::mul", inputs=(TensorFacts(values=(0.0,)),)), ()),
        (a_birth("aten::_ctc_loss"), ("built",)),
        (a_birth(None), ()),
    ],
)
def test_each_kind_of_birth_has_its_way_back(told, birth, expected):
    assert value_lines(birth, None, "") == expected


def test_where_one_way_ends_the_next_is_taken(told):
    told.setattr(module, "infinite_line", lambda frames: None)
    assert value_lines(a_birth("aten::sub", "inf-inf"), None, "") == ("filled",)
    told.setattr(module, "of_the_mask", lambda frame: ())
    assert value_lines(a_birth("aten::_softmax"), None, "") == ("filled",)
    told.setattr(module, "filled", lambda birth: None)
    assert value_lines(a_birth("aten::sub", "inf-inf"), None, "") == ()
    assert value_lines(a_birth("aten::_softmax"), None, "") == ()
    for name, op in (("object_built", "aten::_ctc_loss"), ("weight_line", "aten::_weight_norm_interface")):
        told.setattr(module, name, lambda *asked: None)
        assert value_lines(a_birth(op), None, "") == ()


@pytest.mark.parametrize(
    ("path", "name"),
    [("block.fc.parametrizations.weight", "block.fc.weight"), ("fc.parametrizations.bias.0", "fc.bias"),
     ("fc", "fc.weight"), (None, ".weight")],
)  # fmt: skip
def test_a_normed_weight_is_named_by_its_layer(told, path, name):
    told.setattr(module, "weight_line", lambda frames, asked: asked)
    assert value_lines(a_birth("aten::_weight_norm_interface", module=path), None, "") == (name,)


@pytest.mark.parametrize(
    ("values", "expected"), [((0.0, -0.0), True), ((0.0, 1.0), False), ((), False), (("NaN",), False)]
)
def test_an_input_was_zero_at_all_bad_places_that_are_known(values, expected):
    assert zeros(values) is expected


@pytest.mark.parametrize(
    ("infinity", "frames", "expected"),
    [
        (THERE, (HERE,), THERE),
        (HERE, (HERE,), None),
        (Frame(HERE.file, 3), (HERE,), Frame(HERE.file, 3)),
        (Frame("/elsewhere.py", HERE.line), (HERE,), Frame("/elsewhere.py", HERE.line)),
        (THERE, (), THERE),
        (None, (HERE,), None),
        (None, (), None),
    ],
)
def test_the_line_of_an_infinity_is_another_than_that_of_the_op(infinity, frames, expected):
    assert filled(a_birth(frames=frames, infinity=infinity)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x.half()", True),
        ("x.to(torch.float16)", True),
        ("x.astype('float16')", True),
        ("x.astype('<f2')", True),
        ("x.float()", False),
        ("x.to(torch.float32)", False),
        ("x.astype('float32')", False),
        ("half", False),
        ("other.x('x')", False),
    ],
)
def test_a_cast_to_half_is_known_by_its_name(code, expected):
    assert halves(ast.parse(code, mode="eval").body) is expected


def a_link(frame, code=None):
    return SimpleNamespace(frame=frame, value=SimpleNamespace(node=ast.parse(code, mode="eval").body) if code else None)


@pytest.mark.parametrize(
    ("links", "half", "expected"),
    [
        ([a_link(HERE, "x.float()"), a_link(THERE, "x.half()")], True, (THERE,)),
        ([a_link(HERE, "x.float()"), a_link(THERE, "x.half()")], False, ("first",)),
        ([a_link(HERE), a_link(HERE, "x.float()")], True, ("first",)),
        ([], True, ("first",)),
    ],
)
def test_what_is_stored_in_half_was_cast_to_it(monkeypatch, links, half, expected):
    monkeypatch.setattr(module, "origin", lambda *asked: links)
    monkeypatch.setattr(module, "nonfinite_first", lambda links, some, heard: ("first",) if some else ())
    assert stored_lines(THERE, "self.x[i]", half) == expected


def test_in_doubt_nothing_is_taken_for_half(monkeypatch):
    monkeypatch.setattr(module, "origin", lambda *asked: [a_link(THERE, "x.half()")])
    monkeypatch.setattr(module, "nonfinite_first", lambda *asked, **more: ())
    assert stored_lines(THERE, "self.x[i]") == ()
    assert stored_lines(THERE, "not an (expression", True) == () and stored_lines(THERE, "x[i]", True) == ()


def labels(*leaves):
    loader = SimpleNamespace(origin=lambda path: path)
    return SimpleNamespace(tensors=lambda: list(leaves), loader=loader)


def test_the_cut_of_labels_is_looked_for_by_their_length(monkeypatch):
    monkeypatch.setattr(module, "label_cut", lambda origin, length: (origin, length))
    leaf = ("batch[1]", torch.zeros(2, 5))
    assert cut_line(labels(("batch[0]", torch.zeros(7)), leaf), "batch[1]") == ("batch[1]", 5)
    assert cut_line(labels(leaf), "batch[0]") is None and cut_line(None, "batch[1]") is None
    assert cut_line(labels(("batch[1]", torch.tensor(3.0))), "batch[1]") is None


NAN = torch.tensor([float("nan")])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NAN, True),
        (torch.ones(1), False),
        (torch.tensor([1]), False),
        (torch.nn.Parameter(NAN), False),
        (NAN.clone().requires_grad_() * 2, False),
        (NAN.clone().requires_grad_(), True),
        (torch.tensor([[0.0, float("inf")]]).to_sparse(), True),
        (torch.tensor([[0.0, 1.0]]).to_sparse(), False),
        ("nan", False),
    ],
)
def test_a_tensor_from_outside_the_step_may_be_spoiled(value, expected):
    assert spoiled(value) is expected


def test_a_tensor_that_is_too_large_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 4)
    assert spoiled(NAN) is True and spoiled(NAN.expand(2).clone()) is False


def test_fewer_bad_values_than_rows_leave_some_rows_good():
    def said(nan, rows=None):
        seen = TensorFacts(shape=(8, 6), nan=nan)
        return module.few(Birth(op=None, direction="input", kind="input", output=seen, rows=rows))

    assert (said(7), said(8), said(16, rows=(4, 5)), said(48, rows=tuple(range(8)))) == (True, False, True, False)
