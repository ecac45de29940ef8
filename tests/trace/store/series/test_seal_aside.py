"""A segment sealed by a process of its own, beside a program whose folder has modules of the same names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.series.seal_aside import seal_aside
from debugtracer.trace.store.writer import TraceWriter


def test_a_long_run_is_sealed_while_it_goes_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('the program has a module of this name')\n")
    monkeypatch.chdir(tmp_path)
    sealed = []

    def seal(folder: Path, number: int, run_bytes: int) -> bool:
        sealed.append(seal_aside(folder, number, run_bytes))
        return sealed[-1]

    writer = TraceWriter(Path("run"), 0, flush_steps=10**6, flush_s=600, segment_flushes=2, seal_aside=seal)
    for step in range(4):
        writer.point(step, {"loss": float(step)})
        writer.flush()
    writer._seal_due()
    assert sealed == [True, True]
    assert sorted(path.name for path in Path("run/rank=0").glob("*-0*")) == [
        "series-000001.parquet",
        "series-000002.parquet",
    ]
    writer.close()
    assert list(Trace(Path("run")).series("loss")[0]) == [0, 1, 2, 3]


def test_what_cannot_be_sealed_aside_is_sealed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    writer = TraceWriter(tmp_path, 0, flush_steps=10**6, flush_s=600, segment_flushes=1, seal_aside=seal_aside)
    for step in range(3):
        writer.point(step, {"loss": float(step)})
        writer.flush()
    writer._seal_due()
    assert writer.left == [1, 2, 3] and not list(tmp_path.rglob("*.parquet"))
    writer.close()
    assert len(list(tmp_path.rglob("*.parquet"))) == 3 and writer.off is None
    monkeypatch.setattr(sys, "executable", "")
    assert not seal_aside(tmp_path, 1, 10)
