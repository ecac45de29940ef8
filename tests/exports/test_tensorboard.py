"""The event file is read back by TensorBoard's own reader, and by our import of such files."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.exports.tensorboard import TensorBoard
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace


def test_its_own_reader_finds_every_scalar_and_the_finding(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trace = open_trace(a_trace(tmp_path, Found(at=1.0, rank=0, finding=a_finding(message="层 <b>nan</b>")), ranks=2))
    folder = TensorBoard().write(trace, tmp_path / "tb")
    for rank in (0, 1):
        read = reader.EventAccumulator(
            str(folder / f"rank={rank}"), size_guidance={"scalars": 0, "tensors": 0}
        ).Reload()
        points = read.Scalars("loss")
        assert ([p.step for p in points], [p.value for p in points]) == trace.series("loss", rank)
        assert ("numerics/nan-loss" in read.Tags()["tensors"]) is (rank == 0)
    found = reader.EventAccumulator(str(folder / "rank=0")).Reload().Tensors("numerics/nan-loss")
    assert (found[0].step, found[0].tensor_proto.string_val[0].decode()) == (48, "error: 层 <b>nan</b>")
