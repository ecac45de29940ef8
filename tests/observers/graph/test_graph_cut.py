"""Which calls end a graph, and how they are told."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.graph.graph_cut import described, ends, given
from debugtracer.trace.facts.graph_reach import Cut


def test_arguments_in_lists_are_given_one_by_one() -> None:
    assert list(given((1, [2, 3]), {"dim": (4,), "out": 5})) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "output", "cut"),
    [
        ("item", 1.0, True),
        ("size", (1,), False),
        ("detach", torch.ones(1), True),
        ("argmax", torch.ones(1, dtype=torch.int64), True),
        ("gt", torch.ones(1, dtype=torch.bool), False),
        ("exp", torch.ones(1, requires_grad=True).exp(), False),
    ],
)
def test_a_number_a_place_or_a_float_without_a_graph_ends_it(name: str, output: object, cut: bool) -> None:
    assert ends(name, output) is cut


def test_the_attribute_data_is_told_by_its_name() -> None:
    assert described((0, "__get__", (), "net", frozenset())) == Cut(function="data", module="net", frame=None)
    assert described((0, "item", (), "", frozenset())) == Cut(function="item", module=None, frame=None)
