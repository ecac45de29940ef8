"""Expressions."""

from __future__ import annotations

import time

from tests.source.reading import last_value, lines


def test_names_are_followed_and_branches_joined():
    assert last_value("p = torch.sigmoid(x)\nq = p\nq").form == "sigmoid"
    assert last_value("p = torch.sigmoid(x)\nif a:\n    p = p + 1e-6\np").at_most(0.0) is None
    assert last_value("x = x\nx").tensor is None


def test_constants_of_libraries():
    assert last_value("math.pi").constant is not None and last_value("torch.finfo(x.dtype).eps").constant == 1.2e-7
    assert last_value("x.shape[0]").tensor is False


def test_shapes_of_arithmetic_that_mean_more_than_their_parts():
    assert last_value("x - x.max()").high == 0.0
    assert last_value("x.max() - x.min()").exactly(0.0) is not None and last_value("x.max() - y.min()").points == ()
    assert (last_value("(x ** 2).mean() - x.mean() ** 2").at_most(-1e-9) or None) is not None
    assert last_value("x * x").form == "squares" and last_value("x * y").form == ""
    assert last_value("F.normalize(a) @ F.normalize(b).T").high == 1.0


def test_what_a_condition_selects_is_guarded():
    assert (
        last_value("p = torch.sigmoid(x)\np[p > 0]").points == ()
        and last_value("p = torch.sigmoid(x)\np[~bad]").points == ()
    )
    assert (
        last_value("p = torch.sigmoid(x)\np[0]").points != () and last_value("p = torch.sigmoid(x)\np[-1]").points != ()
    )


def test_attributes():
    assert (
        last_value("x.grad").form == "grad"
        and last_value("torch.sigmoid(x).data").detached
        and last_value("torch.sigmoid(x).T").form == "sigmoid"
    )


def test_a_file_made_to_be_costly_ends():
    text = "a0 = x\n" + "".join(f"a{n + 1} = a{n} + a{n} * a{n} - a{n}\n" for n in range(300)) + "y = torch.log(a300)\n"
    begun = time.perf_counter()
    assert lines("log-unguarded", text) == []
    assert time.perf_counter() - begun < 5  # seconds
