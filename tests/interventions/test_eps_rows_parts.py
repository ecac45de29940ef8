"""Which recorded ops have an epsilon, and where it stands."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from debugtracer.interventions.eps_rows import larger, normalisations, positions, raise_eps, with_eps
from debugtracer.interventions.offline_rerun import as_argument
from debugtracer.recorder.capsule.recorded import OpRow

LAYER = "aten::native_layer_norm.default"


def a_row(*args, outs=(), op=1, **kwargs) -> OpRow:
    return OpRow(op=op, args=list(args), kwargs=kwargs, outs=list(outs), place=0)


def a_place(direction="forward", forward_op=None):
    return SimpleNamespace(direction=direction, forward_op=forward_op)


def a_tape(*ops, names=(LAYER, "aten::mul.Tensor", "aten::nothing_known")):
    """Ops as (name, row, place); a tensor's number is that of its memory."""
    program = SimpleNamespace(names=names, refs=[SimpleNamespace(storage=n) for n in range(9)])

    def window(value):
        return program.refs[value["t"]] if isinstance(value, dict) and "t" in value else None

    rows = [(number, row, name, place) for number, (name, row, place) in enumerate(ops)]
    return SimpleNamespace(program=program, other={}, ops=lambda: rows, window=window)


def test_the_names_of_the_arguments_are_those_of_torch():
    assert positions(LAYER) == ("input", "normalized_shape", "weight", "bias", "eps")
    assert positions("aten::mul.Tensor") == ("self", "other") and positions("aten::nothing_known") == ()


@pytest.mark.parametrize(
    ("row", "found", "args", "kwargs"),
    [
        (a_row(1, 2, 3, 4, 1e-8, op=0), True, [1, 2, 3, 4, as_argument(1e-3)], {}),
        (a_row(1, 2, 3, 4, 0.5, op=0), True, [1, 2, 3, 4, as_argument(0.5)], {}),
        (a_row(1, 2, 3, 4, op=0, eps=1e-8), True, [1, 2, 3, 4], {"eps": as_argument(1e-3)}),
        (a_row(1, 2, 3, 4, op=0), False, None, None),
        (a_row(1, 2, 3, 4), False, None, None),
        (a_row(1, 2, 3, 4, 5, op=2), False, None, None),
    ],
)
def test_an_epsilon_is_raised_where_it_is_given(row, found, args, kwargs):
    tape = a_tape()
    assert with_eps(tape, 7, row, 1e-3) is found
    assert [(one.args, one.kwargs) for one in tape.other.values()] == ([(args, kwargs)] if found else [])


def test_an_epsilon_that_is_none_becomes_the_one_wanted():
    assert larger(None, 0.5) == as_argument(0.5) and larger(2.0, 0.5) == as_argument(2.0)


ADD, ROOT = a_row({"t": 0}, 1e-6, outs=[3, None]), a_row({"t": 3})


@pytest.mark.parametrize(
    ("small", "known"), [(1e-6, True), (0.0, True), (9e-3, True), (1e-2, False), (-1e-6, False), ({"t": 1}, False)]
)
def test_what_is_added_before_a_root_is_an_epsilon_where_it_is_small(small, known):
    row = a_row({"t": 0}, small, outs=[3])
    assert normalisations(a_tape(("add", row, a_place()), ("sqrt", ROOT, a_place()))) == (
        [(0, row, True)] if known else []
    )


@pytest.mark.parametrize(
    "ops",
    [
        [("add", ADD, a_place()), ("sqrt", a_row({"t": 2}), a_place())],
        [("add", ADD, a_place()), ("sqrt", a_row(), a_place())],
        [("add", ADD, a_place()), ("sqrt", a_row(3.0), a_place())],
        [("add", ADD, a_place()), ("exp", a_row({"t": 3}), a_place())],
        [("add", ADD, a_place()), ("sqrt", ROOT, a_place(forward_op=1))],
        [("add", ADD, a_place("update")), ("sqrt", ROOT, a_place())],
        [("add", a_row({"t": 0}, outs=[3]), a_place()), ("sqrt", ROOT, a_place())],
        [("mul", a_row({"t": 0}, 1e-6, outs=[3]), a_place()), ("sqrt", ROOT, a_place())],
        [("native_layer_norm", a_row(1, op=0), a_place("update"))],
    ],
)
def test_no_other_number_is_one(ops):
    assert normalisations(a_tape(*ops)) == []


def test_an_addition_counts_once_and_normalisations_by_themselves():
    norm = a_row(1, 2, 3, 4, 1e-8, op=0)
    tape = a_tape(
        ("add", ADD, a_place()),
        ("rsqrt", ROOT, a_place()),
        ("sqrt", ROOT, a_place()),
        ("native_layer_norm", norm, a_place("backward", 3)),
    )
    assert normalisations(tape) == [(0, ADD, True), (3, norm, False)]
    raise_eps(tape, 0, ADD, True, 1e-3)
    raise_eps(tape, 3, norm, False, 1e-3)
    assert tape.other[0].args == [{"t": 0}, as_argument(1e-3)] and tape.other[3].args[4] == as_argument(1e-3)
