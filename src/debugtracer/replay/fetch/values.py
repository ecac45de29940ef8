"""What a local of any library holds: is a number of it not finite, how large is it, a copy of it, a few facts of it."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from debugtracer.trace.birth import TensorFacts
from debugtracer.trace.number import Number, number

DEPTH = 4  # levels of lists and dicts that are looked into (ours)
MOST = 20_000  # items of one list (ours)
BIG = 1 << 26  # bytes of an array that is not looked at line by line: a whole data set (ours)
FEW = 8  # values that are written out


def parts_of(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the tensors, arrays and plain numbers of a value; nested lists, dicts and data classes are looked into."""
    if isinstance(value, (Tensor, float, complex, int)):
        yield value
    elif isinstance(value, (str, bytes, type(None), type)):
        return
    elif array_of(value) is not None:
        yield value
    elif depth < DEPTH:
        for one in inside(value):
            yield from parts_of(one, depth + 1)


def inside(value: Any) -> list[Any]:
    """The items of a list, a dict or a data class."""
    if isinstance(value, (list, tuple)):
        return list(value[:MOST])
    if isinstance(value, Mapping):
        with contextlib.suppress(Exception):  # a mapping of the user's may do anything
            return list(value.values())[:MOST]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return list(vars(value).values()) if hasattr(value, "__dict__") else []
    return []


def array_of(value: Any) -> Any:
    """The numpy array of an array, a frame, a series or a picture; None for anything else. Reads no file."""
    numpy = sys.modules.get("numpy")
    if numpy is None or isinstance(value, (Tensor, str, bytes)):
        return None
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value if value.dtype.kind in "fciub" else None
    home = type(value).__module__.partition(".")[0]
    with contextlib.suppress(Exception):
        if home == "pandas" and hasattr(value, "to_numpy"):
            told = value.select_dtypes("number") if hasattr(value, "select_dtypes") else value
            made = told.to_numpy()
            return made if made.dtype.kind in "fciub" else None
        if hasattr(value, "__array_interface__"):
            made = numpy.asarray(value)
            return made if made.dtype.kind in "fciub" else None
    return None


def size_of(value: Any) -> int:
    """The bytes of a tensor or array; 0 for anything else."""
    with contextlib.suppress(Exception):
        return int(getattr(value, "nbytes", 0) or 0)
    return 0


def is_bad(value: Any) -> bool:
    """Whether any number in it is NaN or Inf. What is too large to look at, and what cannot be read, is not."""
    try:
        return any(bad(part) for part in parts_of(value))
    except Exception:
        return False


def bad(part: Any) -> bool:
    """Whether one tensor, array or number holds NaN or Inf."""
    if isinstance(part, (float, complex)):
        return not (math.isfinite(part.real) and math.isfinite(part.imag))
    if isinstance(part, int) or size_of(part) > BIG:
        return False
    return not bool(torch.isfinite(plain(part)).all())


def plain(part: Any) -> Tensor:
    """A tensor, array or number as a dense tensor on the host, sharing its memory where it can."""
    if isinstance(part, Tensor):
        dense: Tensor = part.detach()
        return (dense.coalesce().values() if dense.is_sparse else dense).cpu()
    if isinstance(part, (float, complex, int)):
        return torch.tensor(part, dtype=torch.float64 if isinstance(part, float) else None)
    numpy = sys.modules["numpy"]
    array = array_of(part)
    made = numpy.ascontiguousarray(array).reshape(array.shape)
    made = made if made.dtype.isnative else made.astype(made.dtype.newbyteorder("="))
    if made.dtype.kind in "iu" and made.dtype.itemsize > 1:
        made = made.astype(numpy.int64)
    elif made.dtype.kind == "f" and made.dtype.itemsize > 8:
        made = made.astype(numpy.float64)
    return torch.from_numpy(made if made.flags.writeable else made.copy())


def largest(value: Any) -> float | None:
    """The largest finite magnitude in it; None where it holds no number, or is too large to look at."""
    found: list[float] = []
    try:
        for part in parts_of(value):
            if isinstance(part, bool) or size_of(part) > BIG:
                continue
            tensor = plain(part)
            if tensor.dtype == torch.bool or not tensor.numel():
                continue
            kept = tensor[torch.isfinite(tensor)]
            if kept.numel():
                found.append(float(kept.abs().max()))
    except Exception:
        return None
    return max(found, default=None)


def copied(value: Any, depth: int = 0) -> Any:
    """A copy that a later line cannot write into; what cannot be copied cheaply is handed on as it is."""
    if size_of(value) > BIG:
        return value
    with contextlib.suppress(Exception):
        if isinstance(value, Tensor):
            return value.detach().clone()
        if array_of(value) is not None:
            return value.copy()
        if isinstance(value, (list, tuple, dict)) and type(value) in (list, tuple, dict) and depth < DEPTH:
            if isinstance(value, dict):
                return {k: copied(v, depth + 1) for k, v in list(value.items())[:MOST]}
            return type(value)(copied(v, depth + 1) for v in value[:MOST])
    return value


def facts_of(name: str, value: Any, where: Tensor | None = None) -> TensorFacts | None:
    """Describe shape, dtype, counts and range of a value's first tensor, array or number; its values at `where`, a mask
    of what is NaN or Inf in the result."""
    part = next(parts_of(value), None)
    if part is None:
        return None
    tensor = plain(part)
    wide = tensor.double() if not tensor.is_complex() else tensor.abs().double()
    good = torch.isfinite(wide)
    kept = wide[good]
    return TensorFacts(
        name=name,
        shape=tuple(tensor.shape),
        dtype=dtype_of(part),
        nan=int(torch.isnan(wide).sum()),
        posinf=int((wide == math.inf).sum()),
        neginf=int((wide == -math.inf).sum()),
        low=number(float(kept.min())) if kept.numel() else None,
        high=number(float(kept.max())) if kept.numel() else None,
        values=at(wide, where),
    )


def at(tensor: Tensor, where: Tensor | None) -> tuple[Number, ...]:
    """The first values at a mask to which they broadcast; without one the first values of a small tensor."""
    with contextlib.suppress(Exception):
        if where is None:
            return tuple(number(float(v)) for v in tensor.reshape(-1)[:FEW].tolist()) if tensor.numel() <= FEW else ()
        return tuple(number(float(v)) for v in tensor.expand(where.shape)[where][:FEW].tolist())
    return ()


def mask_of(value: Any) -> Tensor | None:
    """Where a value's first tensor, array or number is NaN or Inf; None where nowhere."""
    part = next(parts_of(value), None)
    if part is None:
        return None
    mask = ~torch.isfinite(plain(part))
    return mask if bool(mask.any()) else None


def dtype_of(part: Any) -> str:
    """The dtype as its own library writes it: `torch.float32`, `float64`; `float` for a plain number."""
    made = part if isinstance(part, Tensor) else array_of(part)
    return str(made.dtype) if made is not None else type(part).__name__
