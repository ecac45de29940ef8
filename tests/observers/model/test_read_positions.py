"""Which position of each row is taken out of a tensor."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.model.read_positions import FIRST, Read, read_of, selected, single, taken

SIZES = (3, 5)
ROWS = torch.arange(3)


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (-1, (FIRST, 2)),
        ((slice(None), -1), (1, 4)),
        ((slice(None), slice(2, 3)), (1, 2)),
        ((slice(None), 0, slice(None)), (1, 0)),
        ((slice(None), slice(0, 2)), None),
        ((slice(0, 2), 1), None),
        ((slice(None), -1, 0), None),
        (ROWS, None),
        ((ROWS.flip(0), ROWS), None),
        ((ROWS, ROWS == 1), None),
    ],
)
def test_an_index_of_one_position(index, found):
    assert taken(index, SIZES) == found


def test_a_position_of_its_own_for_each_row():
    dim, places = taken((ROWS, torch.tensor([1, -1, 3])), SIZES)
    assert dim == 1 and places.tolist() == [1, 4, 3]
    dim, places = selected(1, torch.tensor([[2], [0], [4]])[..., None].expand(3, 1, 8), SIZES)
    assert dim == 1 and places.tolist() == [2, 0, 4]
    assert selected(1, torch.tensor([[2, 0]] * 3)[..., None], SIZES) is None
    assert selected(1, 4, SIZES) == (1, 4) and selected(2, 0, SIZES) is None


@pytest.mark.parametrize(("name", "args", "kwargs"), [("select", (1, -1), {}), ("select", (), {"dim": 1, "index": 4})])
def test_what_is_read_of_a_tensor_with_a_graph(name, args, kwargs):
    whole = torch.randn(3, 5, 2, requires_grad=True) * 2
    read = read_of(name, (whole, *args), kwargs, whole.select(1, -1))
    assert read is not None and (read.function, read.dim, read.place, read.shape) == (name, 1, 4, SIZES)
    plain = torch.randn(3, 5, 2)
    assert read_of(name, (plain, *args), kwargs, plain.select(1, -1)) is None


def test_a_tensor_read_at_one_position_alone_at_a_line_of_one_shape():
    def read(source, place, raw="a", shape=SIZES):
        return Read("select", 9, (source, 0), shape, 1, place, (raw,))

    assert single([read(1, 4), read(1, 4)]) == [read(1, 4)]
    assert single([read(1, 4), read(1, 3)]) == []
    assert single([read(1, 4), read(2, 4, shape=(3, 6))]) == []
    assert single([read(1, ROWS), read(1, ROWS.clone())])[0].place is ROWS
    assert single([read(1, ROWS), read(1, 1)]) == []
