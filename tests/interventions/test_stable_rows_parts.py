"""Which recorded ops get a stable form, and what is written into their memory."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from debugtracer.interventions import stable_rows
from debugtracer.interventions.offline_rerun import as_argument
from debugtracer.interventions.stable_rows import count_one, harmless, rows_at, stabilise, write, zero_where_empty
from debugtracer.recorder.capsule.recorded import OpRow
from debugtracer.trace.birth import Birth, Frame

HERE, ELSEWHERE = Frame("model.py", 9), Frame("model.py", 8)
LIBRARY = Frame("library.py", 3)


def a_row(*args) -> OpRow:
    return OpRow(op=0, args=list(args), kwargs={}, outs=[], place=0)


def a_place(frame=0, library=None, direction="forward", forward_op=None):
    frames = (frame,) if frame is not None else ()
    return SimpleNamespace(frames=frames, library=library, direction=direction, forward_op=forward_op)


def a_tape(*ops):
    """Ops as (name, place, arguments)."""
    rows = [(number, a_row(*args), name, place) for number, (name, place, *args) in enumerate(ops)]
    program = SimpleNamespace(frames=[HERE, ELSEWHERE, LIBRARY], places=[a_place()])
    return SimpleNamespace(
        program=program, ops=lambda: rows, other={}, before={}, after={}, doubts=[], values_changed=0
    )


def found(place, name="log", names=frozenset({"log"}), args=(), frames=(HERE,), library=None):
    birth = Birth(op=None, direction="forward", kind="domain", frames=frames, library=library)
    return [one[2] for one in rows_at(a_tape((name, place, *args)), birth, names)]


def test_an_op_of_the_guilty_line_is_found():
    assert found(a_place()) == ["log"]
    assert found(a_place(library=2), library=LIBRARY) == ["log"]


@pytest.mark.parametrize(
    "place",
    [
        a_place(frame=None),
        a_place(frame=1),
        a_place(library=2),
        a_place(direction="update"),
        a_place(forward_op=3),
    ],
)
def test_an_op_of_another_place_is_not(place):
    assert found(place) == []


def test_neither_is_one_without_a_line_a_form_or_a_fault():
    assert found(a_place(), frames=()) == []
    assert found(a_place(), name="exp") == []
    assert found(a_place(), name="mul", names=frozenset({"mul"})) == []
    powers = frozenset({"pow"})
    assert found(a_place(), "pow", powers, ({"t": 0}, 2)) == [] and found(a_place(), "pow", powers, (0, 0.5)) == ["pow"]


@pytest.mark.parametrize(
    ("op", "inner", "expected"), [("aten::log", None, [0]), (None, "aten::sqrt_", [1]), (None, None, [0, 1])]
)
def test_the_operator_of_birth_comes_before_others_of_its_line(op, inner, expected):
    birth = Birth(op=op, inner_op=inner, direction="forward", kind="domain", frames=(HERE,))
    tape = a_tape(("log", a_place()), ("sqrt", a_place()))
    assert [one[0] for one in rows_at(tape, birth, frozenset({"log", "sqrt"}))] == expected


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("pow", (0, 2), True),
        ("pow", (0, 0), True),
        ("pow", (0, -1), False),
        ("pow", (0, 0.5), False),
        ("pow", (0, as_argument(3.0)), True),
        ("pow", (0, {"t": 1}), False),
        ("pow", (0,), False),
        ("mul", (0, 2), False),
    ],
)
def test_a_whole_power_is_defined_everywhere(name, args, expected):
    assert harmless(a_row(*args), name) is expected


def test_a_number_that_divides_is_replaced_here_and_in_the_derivative_alone():
    backward = a_place(direction="backward")
    tape = a_tape(
        ("div", a_place(), {"t": 0}, 0.0, "floor"),
        ("div", backward, {"t": 1}, 0.0),
        ("div", a_place(), {"t": 2}, 0.0),
        ("div", backward, {"t": 3}, 2.0),
        ("div", a_place(frame=1, direction="backward"), {"t": 4}, 0.0),
        ("mul", backward, {"t": 5}, 0.0),
    )
    row = tape.ops()[0][1]
    stabilise(tape, 0, row, "div", 0.5)
    assert {number: one.args for number, one in tape.other.items()} == {
        0: [{"t": 0}, as_argument(0.5), "floor"],
        1: [{"t": 1}, as_argument(0.5)],
    }
    assert tape.values_changed == 1 and not tape.before


def test_a_tensor_that_divides_is_changed_in_memory():
    for args in (({"t": 0}, {"t": 1}), ({"t": 0},)):
        tape = a_tape(("div", a_place(), *args))
        stabilise(tape, 0, tape.ops()[0][1], "div", 0.5)
        assert list(tape.before) == [0] and not tape.other and tape.values_changed == 0
    (change,) = tape.before[0]
    divided, divisor = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.0, 0.25, 4.0])
    assert "leaves as it is" in tape.doubts[0]()
    change((divided, divisor), {})
    assert (divided.tolist(), divisor.tolist()) == ([1.0, 2.0, 3.0], [0.5, 0.5, 4.0])
    assert tape.values_changed == 2 and tape.doubts[0]() == ""


def test_an_argument_given_by_name_is_changed_in_memory_too():
    tape = a_tape(("log", a_place()))
    stabilise(tape, 0, tape.ops()[0][1], "log", 0.5)
    x, other = torch.tensor([0.0, 2.0]), torch.tensor([0.0])
    tape.before[0][0]((), {"self": x, "other": other})
    assert x.tolist() == [0.5, 2.0] and other.tolist() == [0.0] and tape.values_changed == 1


@pytest.mark.parametrize(
    ("dims", "expected"), [([0], [[0.0, 1.0]]), (0, [[0.0, 1.0]]), ([0, 1], [[float("-inf"), 1.0]])]
)
def test_a_list_of_one_dimension_is_that_dimension(dims, expected):
    tape = a_tape(("logsumexp", a_place()))
    stabilise(tape, 0, tape.ops()[0][1], "logsumexp", 0.5)
    x = torch.tensor([[float("-inf"), 1.0]])
    tape.before[0][0]((x, dims), {})
    assert x.tolist() == expected


def test_what_comes_after_an_op_is_asked_for_by_its_form(monkeypatch):
    monkeypatch.setattr(stable_rows, "with_eps", lambda tape, number, row, eps: tape.other.update({number: eps}))
    for name, after, other in (
        ("mean", zero_where_empty, {}),
        ("nll_loss_forward", count_one, {}),
        ("native_layer_norm", None, {0: 0.5}),
    ):
        tape = a_tape((name, a_place()))
        stabilise(tape, 0, tape.ops()[0][1], name, 0.5)
        assert tape.after == ({0: [after]} if after else {}) and tape.other == other and tape.values_changed == 1
    tape = a_tape(("layer_norm", a_place()))
    stabilise(tape, 0, tape.ops()[0][1], "layer_norm", 1e-9)
    assert tape.other == {0: 1e-5}


def test_an_expanded_dimension_is_written_once():
    held = torch.tensor([[0.0], [1.0]])
    write(held.expand(2, 3), torch.tensor([[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]]))
    assert held.tolist() == [[5.0], [8.0]]
    one = torch.zeros(2).as_strided((1, 2), (0, 1))
    write(one, torch.tensor([[3.0, 4.0]]))
    assert one.tolist() == [[3.0, 4.0]]
    plain = torch.zeros(2, 2)
    write(plain, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert plain.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_the_mean_of_nothing_becomes_zero():
    mean, other = torch.tensor(float("nan")), torch.tensor([1.0, float("inf")])
    zero_where_empty([mean, None, other])
    assert mean.item() == 0.0 and other[0].item() == 1.0


@pytest.mark.parametrize(
    ("loss", "weight", "expected"),
    [
        (float("nan"), 0.0, (0.0, 1.0)),
        (2.0, 3.0, (2.0, 3.0)),
        (2.0, [0.0], (2.0, [0.0])),
        (None, 0.0, (None, 0.0)),
        (2.0, None, (2.0, None)),
    ],
)
def test_a_loss_without_a_target_counts_one(loss, weight, expected):
    outs = [torch.tensor(value) if value is not None else None for value in (loss, weight)]
    count_one(outs)
    assert tuple(out.tolist() if out is not None else None for out in outs) == expected
