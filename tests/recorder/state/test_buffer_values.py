"""Values of every kind of buffer are copied and put back to the bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from debugtracer.recorder.state.buffer_values import put, renew, value_of

warnings.filterwarnings("ignore", message=".*(prototype|beta|deprecated).*")


def of_rows(**words: object) -> Tensor:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], **words)


KINDS: dict[str, Callable[[], Tensor]] = {
    "dense": lambda: torch.ones(3),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "not coalesced": lambda: torch.sparse_coo_tensor(torch.tensor([[0, 0], [1, 1]]), torch.ones(2), (2, 2)),
    "sparse rows": lambda: torch.eye(3).to_sparse_csr(),
    "complex": lambda: torch.ones(3, dtype=torch.complex64),
    "conjugate": lambda: torch.ones(3, dtype=torch.complex64).conj(),
    "nested": of_rows,
    "jagged": lambda: of_rows(layout=torch.jagged),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
}


def parts(tensor: Tensor) -> list[Tensor]:
    """What its bits are in."""
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values(), torch.tensor(tensor.is_coalesced())]
    if tensor.layout is torch.sparse_csr:
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.is_nested:
        return list(tensor.unbind())
    return [tensor.int_repr() if tensor.is_quantized else tensor]


def same(a: Tensor, b: Tensor) -> bool:
    return all(torch.equal(x, y) for x, y in zip(parts(a), parts(b), strict=True))


def spoilt(buffer: Tensor) -> None:
    buffer.copy_(torch.zeros(3)) if buffer.is_quantized else buffer.mul_(float("nan"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_comes_back_and_leaves_no_version(kind: str) -> None:
    buffer, before = KINDS[kind](), KINDS[kind]()
    value = value_of(buffer)
    assert value is not None
    spoilt(buffer)
    assert not same(buffer, before)
    version = buffer._version
    put(buffer, value)
    assert same(buffer, before) and buffer._version == version


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_made_anew_beside_others(kind: str) -> None:
    buffers = [torch.ones(2), KINDS[kind](), torch.ones(2)]
    copies = [c for b in buffers if (c := value_of(b)) is not None]
    for buffer in buffers:
        spoilt(buffer)
    renew(copies, buffers, torch._foreach_copy_)
    assert all(same(a.nan_to_num(5.0), b.nan_to_num(5.0)) for a, b in zip(copies[::2], buffers[::2], strict=True))
    put(buffers[1], copies[1])  # no other bits than those of now
    assert [x.shape for x in parts(buffers[1])] == [x.shape for x in parts(copies[1])]
    assert not same(copies[1], KINDS[kind]())


def test_entries_that_came_since_go_again() -> None:
    buffer = torch.eye(3).to_sparse()
    value = value_of(buffer)
    assert value is not None
    buffer.add_(torch.ones(3, 3).to_sparse())
    put(buffer, value)
    assert buffer._nnz() == 3 and same(buffer, torch.eye(3).to_sparse())


def test_what_is_expanded_is_put_back_in_its_one_place() -> None:
    base = torch.ones(1)
    buffer = base.expand(4)
    value = value_of(buffer)
    assert value is not None
    base.fill_(float("nan"))
    put(buffer, value)
    assert torch.equal(buffer, torch.ones(4))


def test_what_cannot_be_copied_is_told() -> None:
    rows = torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.qint8)
    assert value_of(rows) is None
