"""What an exception refused as an index."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from debugtracer.callsites.crash_site import site_of
from debugtracer.callsites.failing_expression import failing_expression
from debugtracer.callsites.refused_index import RefusedIndex, refused_index

NAMES = ["oak", "ash", "elm"]


def refused(program):
    try:
        program()
    except Exception as error:
        return refused_index(error, site_of(error), failing_expression(error))


def of_list():
    place = 7
    return NAMES[place]


@pytest.mark.parametrize(
    ("program", "number", "size"),
    [
        (lambda: torch.eye(5)[torch.tensor([1, 5])], 5, 5),
        (lambda: torch.eye(5)[torch.tensor([1, -6])], -6, 5),
        (lambda: np.arange(4)[6], 6, 4),
        (lambda: torch.nn.Embedding(4, 2)(torch.tensor([1, 9])), 9, 4),
        (of_list, 7, 3),
    ],
)
def test_the_number_and_how_many_places_there_are(program, number, size):
    found = refused(program)
    assert (found.number, found.size, found.least) == (number, size, -size)


@pytest.mark.parametrize("number", [3, -1])
def test_a_class_is_not_counted_from_the_end(number):
    loss = torch.nn.functional.cross_entropy
    found = refused(lambda: loss(torch.zeros(2, 3), torch.tensor([0, number])))
    assert found == RefusedIndex(number, 3, counts_back=False)
    assert found.least == 0


def test_another_exception():
    assert refused(lambda: torch.zeros(2) @ torch.zeros(3)) is None
    assert refused(lambda: {}["oak"]) is None
