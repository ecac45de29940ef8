"""An export that follows a run adds what is new, once, and its own reader sees it while the run still trains."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from debugtracer.exports.csv_tables import CsvTables
from debugtracer.exports.export import Export
from debugtracer.exports.perfetto import Perfetto
from debugtracer.exports.progress import Progress
from debugtracer.exports.tensorboard import TensorBoard
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter


class Followed:
    """A run that trains, and an export that follows it."""

    def __init__(self, export: Export, tmp_path: Path) -> None:
        self.export, self.folder, self.progress = export, tmp_path / "out", Progress(over=False)
        self.folder.mkdir()
        self.run = create_run(tmp_path, "run-1", ["train.py"], "dev")
        self.writer = TraceWriter(self.run, 0)
        self.step = 0

    def train(self, steps: int, name: str = "loss") -> None:
        for _ in range(steps):
            self.writer.point(self.step, {name: float(self.step), "step_s": 1.0})
            self.step += 1
        self.writer.flush()

    def write(self, over: bool = False) -> Path:
        self.progress.round_over(over)
        written = self.export.write(open_trace(self.run), self.folder, self.progress)
        self.progress.round_done(0)
        return written


def test_a_table_gets_each_value_once(tmp_path: Path) -> None:
    followed = Followed(CsvTables(), tmp_path)
    for steps in (3, 0, 2):
        followed.train(steps)
        path = followed.write()
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["series"] == "loss"]
    assert [(row["step"], float(row["value"])) for row in rows] == [(str(n), float(n)) for n in range(5)]


def test_tensorboard_sees_the_points_while_the_run_trains(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    followed = Followed(TensorBoard(), tmp_path)
    followed.train(3)
    folder = followed.write()
    read = reader.EventAccumulator(str(folder / "rank=0"), size_guidance={"scalars": 0}).Reload()
    assert [point.step for point in read.Scalars("loss")] == [0, 1, 2]
    followed.train(2)
    followed.train(1, "val_loss")
    followed.write(over=True)
    read.Reload()
    assert [(point.step, point.value) for point in read.Scalars("loss")] == [(n, float(n)) for n in range(5)]
    assert [point.step for point in read.Scalars("val_loss")] == [5]


def test_a_trace_for_perfetto_is_whole_each_time(tmp_path: Path) -> None:
    followed = Followed(Perfetto(), tmp_path)
    for steps in (3, 2):
        followed.train(steps)
        told = json.loads(followed.write().read_text())["traceEvents"]
        assert sum(event["name"] == "loss" for event in told) == followed.step


def test_a_series_goes_on_behind_its_last_step(tmp_path: Path) -> None:
    progress = Progress()
    assert (progress.over, progress.after(0, "loss")) == (True, 0)
    progress.wrote(0, "loss", [4, 7])
    progress.wrote(0, "loss", [])
    assert (progress.after(0, "loss"), progress.after(1, "loss")) == (8, 0)
    progress.round_done(3)
    assert (progress.rounds, progress.findings) == (1, 3)
