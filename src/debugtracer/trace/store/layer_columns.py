"""One health snapshot as columns, a row a tensor: what a heat map and a question over many steps read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from debugtracer.trace.facts.health import Health
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.store.schema import VERSION_KEY
from debugtracer.trace.store.series.arrow_arrays import as_numpy, is_valid, numbers, words
from debugtracer.trace.store.series.blocks import as_float32

LAYERS_VERSION = 1  # layers-N.arrows
NAMES = ("layer", "role", "shape", "dtype", "function")
COUNTS = ("sampled", "bad")
OF_TENSOR = ("l2", "mean", "std", "low", "high", "zero_share", "dead_units")
OF_UPDATE = ("update_l2", "moment_l2")  # of a weight: what the step did to it, and Adam's first moment
FLOATS = (*OF_TENSOR, *OF_UPDATE)

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


class Coded(NamedTuple):
    """Texts, each named once: the text of row n is `words[codes[n]]`."""

    codes: npt.NDArray[np.int32]
    words: list[str]

    def texts(self) -> list[str]:
        """Return the text of each row."""
        return [self.words[code] for code in self.codes.tolist()]


@dataclass(frozen=True)
class LayerColumns:
    """The tensors of one step. `floats` and `known` have the shape (tensors,) each; a value that was not measured is
    not `known`, one that is known may be NaN or infinite."""

    step: int
    names: dict[str, Coded]
    counts: dict[str, npt.NDArray[np.int32]]
    floats: dict[str, Floats]
    known: dict[str, Flags]

    @cached_property
    def norms_alone(self) -> bool:
        """Whether no tensor was looked at: their norms come from the gate (`norm_table.py`)."""
        return len(self) > 0 and not self.counts["sampled"].any()

    def __len__(self) -> int:
        """Return the number of tensors."""
        return len(self.names["layer"].codes)


def columns_of(fact: Health) -> LayerColumns:
    """The columns of a snapshot; the update of a parameter stands in the row of its weight."""
    rows, updates = fact.tensors, {one.name: one for one in fact.params}
    mine = [updates.get(row.name) if row.role == "weight" else None for row in rows]
    values: dict[str, Sequence[Number | None]] = {
        **{name: [getattr(row, name) for row in rows] for name in OF_TENSOR},
        **{name: [getattr(one, name) if one is not None else None for one in mine] for name in OF_UPDATE},
    }
    return LayerColumns(
        step=fact.ref.step,
        names={
            "layer": coded([row.name for row in rows]),
            "role": coded([row.role for row in rows]),
            "shape": coded(["x".join(map(str, row.shape)) or "scalar" for row in rows]),
            "dtype": coded([row.dtype for row in rows]),
            "function": coded([row.function for row in rows]),
        },
        counts={name: np.array([getattr(row, name) for row in rows], dtype=np.int32) for name in COUNTS},
        floats={
            name: as_float32([0.0 if v is None else as_float(v) for v in column]) for name, column in values.items()
        },
        known={name: np.array([v is not None for v in column], dtype=bool) for name, column in values.items()},
    )


@cache
def layers_schema() -> Any:
    """The schema of a stream of snapshots: (step, layer, role) and a column a statistic."""
    import pyarrow as pa

    names = [pa.field(name, pa.dictionary(pa.int32(), pa.string()), nullable=False) for name in NAMES]
    counts = [pa.field(name, pa.int32(), nullable=False) for name in COUNTS]
    floats = [pa.field(name, pa.float32()) for name in FLOATS]
    step = pa.field("step", pa.int64(), nullable=False)
    return pa.schema([step, *names, *counts, *floats], metadata={VERSION_KEY: str(LAYERS_VERSION).encode()})


def to_batch(columns: LayerColumns) -> Any:
    """The snapshot as a record batch."""
    import pyarrow as pa

    named = [columns.names[name] for name in NAMES]
    arrays = [
        numbers([columns.step] * len(columns), pa.int64()),
        *(pa.DictionaryArray.from_arrays(numbers(one.codes, pa.int32()), words(one.words)) for one in named),
        *(numbers(columns.counts[name], pa.int32()) for name in COUNTS),
        *(numbers(columns.floats[name], pa.float32(), columns.known[name]) for name in FLOATS),
    ]
    return pa.record_batch(arrays, schema=layers_schema())


def coded(texts: list[str]) -> Coded:
    """Name each text once."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return Coded(np.array(codes, dtype=np.int32), list(places))


def from_batch(batch: Any) -> LayerColumns:
    """The snapshot of a record batch that has a row."""
    return LayerColumns(
        step=int(as_numpy(batch.column("step"))[0]),
        names={name: decoded(batch.column(name)) for name in NAMES},
        counts={name: as_numpy(batch.column(name)) for name in COUNTS},
        floats={name: as_numpy(batch.column(name)) for name in FLOATS},
        known={name: is_valid(batch.column(name)) for name in FLOATS},
    )


def decoded(column: Any) -> Coded:
    """The texts of a dictionary array. Raises ValueError for a code that has no text."""
    codes, texts = as_numpy(column.indices), column.dictionary.to_pylist()
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(texts):
        raise ValueError("a name is missing in it")
    return Coded(codes, texts)
