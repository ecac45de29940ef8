"""Snapshots as columns: whole after a kill at any byte, thinned in a long run but for alarms, damage is said."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from debugtracer.testing import a_trace
from debugtracer.trace.store import layer_log
from debugtracer.trace.store.layer_log import LayerLog, read_layers
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from tests.trace.store.test_layer_columns import a_snapshot


def written(folder: Path, *steps: int, **more: object) -> Path:
    log = LayerLog(folder)
    for step in steps:
        log.append(a_snapshot(step, **more))
    log.close()
    (path,) = folder.glob("layers-000001.arrows")
    return path


def test_a_file_torn_at_any_byte_gives_its_whole_snapshots(tmp_path: Path) -> None:
    path = written(tmp_path, 0, 1, 2)
    whole, seen = path.read_bytes(), set()
    for cut in [*range(0, len(whole), 13), len(whole)]:
        path.write_bytes(whole[:cut])
        found, problems = read_layers(tmp_path)
        assert problems == []
        steps = [one.step for one in found]
        assert steps == [0, 1, 2][: len(steps)]
        seen.add(len(steps))
    assert seen == {0, 1, 2, 3}


def test_damage_in_the_middle_is_said_and_another_file_is_still_read(tmp_path: Path) -> None:
    path = written(tmp_path, 0, 1, 2)
    log = LayerLog(tmp_path)
    log.append(a_snapshot(7))
    log.close()
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 :] = b"\x55" * (len(whole) - len(whole) // 2)
    path.write_bytes(whole)
    found, problems = read_layers(tmp_path)
    assert [one.step for one in found][-1] == 7
    assert len(problems) == 1 and "layers-000001.arrows is damaged" in problems[0]
    path.write_bytes(b"no stream at all")
    found, problems = read_layers(tmp_path)
    assert [one.step for one in found] == [7] and len(problems) == 1


def test_a_long_run_keeps_ever_fewer_and_every_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_log, "HALVED_BYTES", 20_000)
    log = LayerLog(tmp_path)
    for step in range(400):
        log.append(a_snapshot(step, at_alarm=step == 397))
    log.close()
    steps = [one.step for one in read_layers(tmp_path)[0]]
    assert steps[:3] == [0, 1, 2] and 397 in steps
    gaps = [later - step for step, later in pairwise(steps) if 397 not in (step, later)]
    assert gaps == sorted(gaps) and gaps[-1] >= 8
    assert log.size < 150_000


def test_a_rank_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_layers(tmp_path) == ([], [])
    assert read_layers(tmp_path / "nowhere") == ([], [])


def test_the_writer_of_a_rank_writes_them_beside_its_series(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    writer.point(0, {"loss": 1.0})
    writer.snapshot(a_snapshot(0))
    writer.flush()
    writer.snapshot(a_snapshot(1))
    writer.close()
    assert [one.step for one in open_trace(tmp_path).layers(0)] == [0, 1]


def test_a_run_of_an_older_version_is_read_from_its_events(tmp_path: Path) -> None:
    from tests.views.test_layers import snapshot

    run = a_trace(tmp_path, snapshot(4), snapshot(2), snapshot(4))
    assert [one.step for one in open_trace(run).layers(0)] == [2, 4]
