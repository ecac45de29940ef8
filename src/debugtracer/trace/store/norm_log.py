"""Norms of each layer over time beside the series of a rank: a row a step and role, with a list of the norms."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.store import stream_arrays as stream
from debugtracer.trace.store.layer_log import new_file
from debugtracer.trace.store.norm_table import NormPiece, NormTable
from debugtracer.trace.store.schema import check_version, version_metadata
from debugtracer.trace.store.series.arrow_arrays import as_numpy
from debugtracer.trace.store.series.blocks import as_float32
from debugtracer.trace.store.series.live import first_line, torn, write_whole
from debugtracer.trace.store.stream_arrays import stream_schema

NORMS_VERSION = 2  # norms-N.arrows
FILE = re.compile(r"norms-(\d{6,})\.arrows")


@cache
def norms_schema() -> Any:
    """The columns of a file, a row a step and role: the norms of the layers, and which these are; null where they are
    those of the row before it of that role."""
    import nanoarrow as na

    fields = {
        "step": na.int64(nullable=False),
        "role": na.string(nullable=False),
        "layer": na.list_(na.string()),
        "l2": na.list_(na.float32(), nullable=False),
    }
    return stream_schema(fields, version_metadata(NORMS_VERSION))


class NormLog:
    """One stream of norms that grows; some steps to a batch."""

    def __init__(self, folder: Path) -> None:
        """Make the next free file in a rank's folder. Raises OSError."""
        self.file, self.size = new_file(folder, "norms"), 0
        self.names: dict[str, tuple[str, ...]] = {}

    def append(self, fact: LayerNorms) -> None:
        """Write the norms of some steps. Raises OSError."""
        if not fact.steps:
            return
        layers: list[tuple[str, ...] | None] = [None] * len(fact.steps)
        if self.names.get(fact.role) != fact.names:
            layers[0] = fact.names
        columns = [
            stream.numbers(fact.steps, "int64"),
            stream.words([fact.role] * len(fact.steps)),
            stream.word_lists(layers),
            stream.number_lists([as_float32(row) for row in fact.values], "float32"),
        ]
        data = stream.as_bytes(stream.batch(norms_schema(), columns, len(fact.steps)), first=not self.size)
        write_whole(self.file, data, self.size)
        self.size += len(data)
        self.names[fact.role] = fact.names

    def close(self) -> None:
        """End writing; the file stays."""
        os.close(self.file)


def read_norms(folder: Path) -> tuple[NormTable, list[str]]:
    """Read the norms of a rank, and a sentence per file that is damaged. Raises OSError."""
    pieces: list[NormPiece] = []
    problems: list[str] = []
    for name in sorted(n for n in os.listdir(folder) if FILE.fullmatch(n)) if folder.is_dir() else []:
        try:
            pieces += pieces_of_file(folder / name, problems)
        except TraceError as error:
            problems.append(str(error))
    return NormTable(pieces), problems


def pieces_of_file(path: Path, problems: list[str]) -> list[NormPiece]:
    """Read the whole batches of a file; damage in its middle is put into `problems`, a torn end is none. Raises
    TraceError."""
    import pyarrow as pa

    data = path.read_bytes()
    source, found, at = pa.BufferReader(data), list[NormPiece](), 0
    names: dict[str, list[str]] = {}
    try:
        stream = pa.ipc.open_stream(source)
        check_version(path, stream.schema.metadata, NORMS_VERSION)
        while True:
            at = source.tell()
            batch = stream.read_next_batch()
            batch.validate(full=True)
            for row in range(len(batch)):
                found.append(piece_of(batch, row, names))
    except StopIteration:
        pass
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if not torn(error, data[at : at + 8]):
            problems.append(
                f"{path} is damaged after {len(found)} whole pieces ({first_line(error)}); what comes after is lost."
            )
    return found


def piece_of(batch: Any, row: int, names: dict[str, list[str]]) -> NormPiece:
    """The piece in a row of a batch; `names` has the layers of each role so far and takes its own. Raises ValueError
    where these are not as many as its norms."""
    step, role, layer, l2 = (batch.column(name)[row] for name in ("step", "role", "layer", "l2"))
    word = role.as_py()
    if layer.is_valid:
        names[word] = layer.as_py()
    if len(names.get(word, ())) != len(l2.values):
        raise ValueError("a name is missing in it")
    return NormPiece(step.as_py(), word, names[word], as_numpy(l2.values))
