"""One health snapshot as columns, a row a tensor: what a heat map and a question over many steps read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from debugtracer.trace.facts.health import Health
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.store.schema import version_metadata
from debugtracer.trace.store.series.arrow_arrays import as_numpy, is_valid
from debugtracer.trace.store.series.blocks import as_float32
from debugtracer.trace.store.stream_arrays import stream_schema

LAYERS_VERSION = 2  # layers-N.arrows
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
    """The schema of a stream of snapshots: a row a snapshot, a list a column of it. What is null in a row is as in the
    row before."""
    import nanoarrow as na

    fields: dict[str, Any] = {"step": na.int64(nullable=False)}
    fields |= {name: na.list_(na.string()) for name in NAMES}
    fields |= {name: na.list_(na.int32()) for name in COUNTS}
    fields |= {name: na.list_(na.float32(), nullable=False) for name in FLOATS}
    return stream_schema(fields, version_metadata(LAYERS_VERSION))


def same_each_time(columns: LayerColumns) -> dict[str, list[Any]]:
    """The columns that seldom change from one snapshot to the next, by name."""
    names: dict[str, list[Any]] = {name: columns.names[name].texts() for name in NAMES}
    return names | {name: columns.counts[name].tolist() for name in COUNTS}


def to_batch(columns: LayerColumns, before: Mapping[str, list[Any]]) -> Any:
    """The snapshot as a record batch of one row; `before` is what the row before it has of `same_each_time`."""
    from debugtracer.trace.store import stream_arrays as stream

    now = same_each_time(columns)
    news = {name: None if before.get(name) == column else column for name, column in now.items()}
    size = [len(columns)]
    arrays = [
        stream.numbers([columns.step], "int64"),
        *(stream.word_lists([news[name]]) for name in NAMES),
        *(stream.number_lists([None if news[name] is None else columns.counts[name]], "int32") for name in COUNTS),
        *(stream.lists(size, stream.numbers(columns.floats[n], "float32", columns.known[n])) for n in FLOATS),
    ]
    return stream.batch(layers_schema(), arrays, 1)


def from_batch(row: Any, before: LayerColumns | None) -> LayerColumns:
    """The snapshot of a record batch of one row, behind another. Raises ValueError where its columns differ in
    length."""

    def known(name: str) -> Any:
        return row.column(name)[0].values

    names, counts = dict(before.names if before else {}), dict(before.counts if before else {})
    names |= {name: coded(told.to_pylist()) for name in NAMES if (told := known(name)) is not None}
    counts |= {name: as_numpy(told) for name in COUNTS if (told := known(name)) is not None}
    floats = {name: known(name) for name in FLOATS}
    sizes = {len(one) for one in (*(name.codes for name in names.values()), *counts.values(), *floats.values())}
    if len(sizes) != 1 or len(names) + len(counts) != len(NAMES) + len(COUNTS):
        raise ValueError("its columns do not belong together")
    return LayerColumns(
        step=int(as_numpy(row.column("step"))[0]),
        names=names,
        counts=counts,
        floats={name: as_numpy(one) for name, one in floats.items()},
        known={name: is_valid(one) for name, one in floats.items()},
    )


def coded(texts: list[str]) -> Coded:
    """Name each text once."""
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in texts]
    return Coded(np.array(codes, dtype=np.int32), list(places))
