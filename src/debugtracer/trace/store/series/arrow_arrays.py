"""Arrow arrays from numpy and back over their memory. pyarrow's own conversions import pandas wherever it is installed:
half a second and 45 MB of a training process that never asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]


def dtype_of(kind: Any) -> Any:
    """The numpy type of an Arrow type of whole or floating numbers, by its name."""
    return np.dtype({"float": "float32", "double": "float64"}.get(str(kind), str(kind)))


def bits(valid: AnyArray | None) -> Any:
    """The validity bitmap of bool values, shape (n,); None where all are valid."""
    import pyarrow as pa

    return None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def numbers(values: Any, kind: Any, valid: AnyArray | None = None) -> Any:
    """An Arrow array of numbers, shape (n,); null where `valid`, shape (n,), is False."""
    import pyarrow as pa

    flat = np.ascontiguousarray(values, dtype=dtype_of(kind))
    return pa.Array.from_buffers(kind, len(flat), [bits(valid), pa.py_buffer(flat)])


def words(values: Sequence[str]) -> Any:
    """An Arrow array of strings, shape (n,)."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    )


def lists(parts: Sequence[AnyArray | None], kind: Any) -> Any:
    """An Arrow array of lists, shape (n,), of an Arrow list type; null where a part is None."""
    valid = np.array([part is not None for part in parts], dtype=bool)
    some = [part for part in parts if part is not None]
    sizes = [0 if part is None else len(part) for part in parts]
    flat = np.concatenate(some) if some else np.empty(0)
    return cut(flat, np.cumsum([0, *sizes]), kind, valid)


def cut(flat: AnyArray, offsets: AnyArray, kind: Any, valid: AnyArray | None = None) -> Any:
    """An Arrow array of lists, shape (n,): `flat` cut at `offsets`, shape (n + 1,)."""
    import pyarrow as pa

    ends = np.ascontiguousarray(offsets, dtype=np.int32)
    inner = numbers(flat, kind.value_type)
    return pa.Array.from_buffers(kind, len(ends) - 1, [bits(valid), pa.py_buffer(ends)], children=[inner])


def as_numpy(column: Any) -> AnyArray:
    """The numbers of an Arrow array or column, shape (n,); a null in a floating one is NaN, else undefined."""
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    dtype, data = dtype_of(whole.type), whole.buffers()[1]
    if data is None or not len(whole):
        return np.empty(0, dtype)
    found = np.frombuffer(data, dtype, len(whole), whole.offset * dtype.itemsize)
    if whole.null_count and dtype.kind == "f":
        return np.where(is_valid(whole), found, np.nan).astype(dtype)
    return found


def is_valid(array: Any) -> npt.NDArray[np.bool_]:
    """Where an Arrow array is not null, shape (n,)."""
    data = array.buffers()[0]
    if data is None:
        return np.ones(len(array), dtype=bool)
    seen = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return seen[array.offset : array.offset + len(array)].astype(bool)
