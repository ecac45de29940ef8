"""The offline run is read back in wandb's own record format; without the package one sentence says what to install."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from debugtracer.errors import UsageError
from debugtracer.exports.wandb import WeightsAndBiases
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace

BLOCK, HEADER = 32768, 7  # of the log that a .wandb file is, and of a piece in it


def test_without_the_package_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(UsageError, match=r"pip install 'torch-debug-tracer\[wandb\]'"):
        WeightsAndBiases().write(open_trace(a_trace(tmp_path)), tmp_path)


def records(path: Path, kind: Any) -> Iterator[Any]:
    """Yield the records of a .wandb file: a log of LevelDB's layout behind seven bytes."""
    data, at, whole = path.read_bytes(), HEADER, b""
    while at + HEADER <= len(data):
        if BLOCK - at % BLOCK < HEADER:  # the rest of a block that no header fits into
            at += BLOCK - at % BLOCK
            continue
        _, length, piece = struct.unpack_from("<IHB", data, at)
        whole += data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if piece in (1, 4):  # a full record, or its last piece
            record = kind()
            record.ParseFromString(whole)
            yield record
            whole = b""


@pytest.mark.sweep  # a process of its own, and large to install
def test_its_own_records_hold_every_value_and_the_finding(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    trace = open_trace(a_trace(tmp_path, Found(at=1.0, rank=0, finding=a_finding(message="层 <b>nan</b>")), ranks=2))
    folder = WeightsAndBiases().write(trace, tmp_path / "out")
    files = {path.parent.name: list(records(path, Record)) for path in folder.glob("offline-run-*/*.wandb")}
    assert len(files) == 2
    for told in files.values():
        (run,) = [record.run for record in told if record.WhichOneof("record_type") == "run"]
        assert run.run_group == "run-1" and run.display_name in ("run-1-rank0", "run-1-rank1")
        rows = [
            {item.key or item.nested_key[0]: json.loads(item.value_json) for item in record.history.item}
            for record in told
            if record.WhichOneof("record_type") == "history"
        ]
        points = [(row["_step"], row["loss"]) for row in rows if "loss" in row]
        assert points == list(zip(*trace.series("loss", 0), strict=True))
    tables = list(folder.rglob("findings*.table.json"))
    assert len(tables) == 1 and "nan-loss" in tables[0].read_text()
    assert not list(folder.rglob("requirements.txt")) and not list(folder.rglob("wandb-metadata.json"))
