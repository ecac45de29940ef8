"""Norms of each layer over time as columns beside the series of a rank: (step, layer, role, l2), a row a number."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from debugtracer.errors import TraceError
from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.store.layer_columns import Coded, coded, decoded
from debugtracer.trace.store.layer_log import BatchBytes, new_file
from debugtracer.trace.store.norm_table import NormPiece, NormTable
from debugtracer.trace.store.schema import VERSION_KEY, check_version
from debugtracer.trace.store.series.arrow_arrays import as_numpy, numbers, words
from debugtracer.trace.store.series.blocks import as_float32
from debugtracer.trace.store.series.live import first_line, torn, write_whole

NORMS_VERSION = 1  # norms-N.arrows
FILE = re.compile(r"norms-(\d{6,})\.arrows")


@cache
def norms_schema() -> Any:
    """The columns of a file: step, layer, role and l2."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    fields = [("step", pa.int64()), ("layer", word), ("role", word), ("l2", pa.float32())]
    metadata = {VERSION_KEY: str(NORMS_VERSION).encode()}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in fields], metadata=metadata)


class NormLog:
    """One stream of norms that grows; some steps to a batch."""

    def __init__(self, folder: Path) -> None:
        """Make the next free file in a rank's folder. Raises OSError."""
        import pyarrow as pa

        self.file, self.size = new_file(folder, "norms"), 0
        self.sink = BatchBytes()
        options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False, emit_dictionary_deltas=True)
        self.writer = pa.ipc.new_stream(self.sink, norms_schema(), options=options)

    def append(self, fact: LayerNorms) -> None:
        """Write the norms of some steps. Raises OSError."""
        import pyarrow as pa

        wide, long = len(fact.names), len(fact.steps)
        layers, role = coded(list(fact.names)), Coded(np.zeros(wide * long, np.int32), [fact.role])
        named = (Coded(np.tile(layers.codes, long), layers.words), role)
        arrays = [
            numbers(np.repeat(np.array(fact.steps, np.int64), wide), pa.int64()),
            *(pa.DictionaryArray.from_arrays(numbers(one.codes, pa.int32()), words(one.words)) for one in named),
            numbers(as_float32([value for row in fact.values for value in row]), pa.float32()),
        ]
        self.writer.write_batch(pa.record_batch(arrays, schema=norms_schema()))
        data = self.sink.take()
        write_whole(self.file, data, self.size)
        self.size += len(data)

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
    try:
        stream = pa.ipc.open_stream(source)
        check_version(path, stream.schema.metadata, NORMS_VERSION)
        while True:
            at = source.tell()
            batch = stream.read_next_batch()
            batch.validate(full=True)
            step, layer, role, l2 = (batch.column(name) for name in ("step", "layer", "role", "l2"))
            found.append(NormPiece(as_numpy(step), decoded(layer), decoded(role), as_numpy(l2)))
    except StopIteration:
        pass
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if not torn(error, data[at : at + 8]):
            problems.append(
                f"{path} is damaged after {len(found)} whole pieces ({first_line(error)}); what comes after is lost."
            )
    return found
