"""Finite < Inf < NaN: the class of a tensor by one cheap pass, where its bad elements lie, and its facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import torch
from torch import Tensor

from debugtracer.recorder.state.sizes import sizes
from debugtracer.trace.birth import Frame, TensorFacts
from debugtracer.trace.number import number

FINITE, INF, NAN = range(3)
MOST = 8  # coordinates and values kept of a bad tensor


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors inside arguments or results, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def floating(tensor: Tensor) -> bool:
    """True for a dtype that can hold Inf or NaN."""
    return tensor.is_floating_point() or tensor.is_complex()


def plain(tensor: Tensor) -> Tensor:
    """A strided real view or copy with the same bad elements; types without arithmetic (float8, sparse) become dense
    float32."""
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense() if tensor.layout is not torch.jagged else cast(Tensor, tensor._values)
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj()).sum(-1)  # bad where either part is
    if tensor.is_floating_point() and tensor.element_size() == 1:
        tensor = tensor.to(torch.float32)
    return tensor.detach()


def class_of(tensor: Tensor) -> int:
    """Return FINITE, INF or NAN of a floating tensor of any layout. Syncs the host once or twice."""
    if not floating(tensor) or tensor.device.type == "meta":
        return FINITE
    if tensor.layout is torch.jagged:
        tensor = cast(Tensor, tensor._values)  # the buffer itself: values() is an op of the nested tensor
    if tensor.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc):
        tensor = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
    if tensor.numel() == 0:
        return FINITE
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    try:
        low, high = torch.aminmax(tensor.detach())
        a, b = low.item(), high.item()
    except (RuntimeError, NotImplementedError):
        tensor = plain(tensor)
        if bool(torch.isnan(tensor).any()):
            return NAN
        return INF if bool(torch.isinf(tensor).any()) else FINITE
    if a != a or b != b:
        return NAN
    return INF if a == -torch.inf or b == torch.inf else FINITE


def bad_mask(tensor: Tensor) -> Tensor:
    """Where it is not finite, in its own shape."""
    return (
        ~torch.isfinite(plain(tensor))
        if floating(tensor)
        else torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    )


def worst_mask(tensor: Tensor) -> Tensor:
    """Mark the NaN elements if there are any, else the infinite ones. Syncs the host."""
    flat = plain(tensor)
    nan = torch.isnan(flat)
    return nan if bool(nan.any()) else torch.isinf(flat)


def indices_by_dim(mask: Tensor) -> tuple[tuple[int, ...], ...]:
    """The indices at which the mask holds anything, per dimension; empty for one of more than 65536. Syncs the host."""
    where = mask.nonzero()
    return tuple(tuple(where[:, d].unique().tolist()) if mask.shape[d] <= 65536 else () for d in range(mask.dim()))


def coordinates_of(mask: Tensor) -> tuple[tuple[int, ...], ...]:
    """The first coordinates of a mask in row-major order, at most MOST; [()] for a scalar."""
    return tuple(tuple(row) for row in mask.nonzero()[:MOST].tolist())


def values_at(tensor: Tensor, shape: tuple[int, ...], coordinates: Iterable[tuple[int, ...]]) -> tuple[float, ...]:
    """The values of a tensor at coordinates of an output of that shape; () where they do not broadcast. Syncs the
    host."""
    try:
        wide = plain(tensor).expand(shape)
    except RuntimeError:
        return ()
    return tuple(float(wide[c]) for c in coordinates)


def facts_of(
    tensor: Tensor, name: str, values: tuple[float, ...] = (), made_by: str = "", made_at: Frame | None = None
) -> TensorFacts:
    """Collect counts, range of the finite values and dtype of a tensor of any type. Syncs the host."""
    shape, dtype = sizes(tensor), str(tensor.dtype).removeprefix("torch.")
    flat = plain(tensor)
    if flat.dtype is torch.bool:
        flat = flat.to(torch.uint8)
    finite = torch.isfinite(flat)
    kept = flat[finite]
    low, high = (number(kept.min().item()), number(kept.max().item())) if kept.numel() else (None, None)
    nan, pos, neg = (
        (int(m.sum()) for m in (torch.isnan(flat), torch.isposinf(flat), torch.isneginf(flat)))
        if flat.is_floating_point()
        else (0, 0, 0)
    )
    return TensorFacts(
        name=name,
        shape=shape,
        dtype=dtype,
        nan=nan,
        posinf=pos,
        neginf=neg,
        low=low,
        high=high,
        values=tuple(map(number, values)),
        made_by=made_by,
        made_at=made_at,
    )
