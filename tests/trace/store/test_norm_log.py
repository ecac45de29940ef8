"""Norms of layers as columns: whole after a kill at any byte, damage is said."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_trace
from debugtracer.trace.store.norm_log import NormLog, read_norms
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from tests.trace.facts.test_layer_norms import some_norms


def written(folder: Path) -> Path:
    log = NormLog(folder)
    for steps in ((0, 1), (2,), (3, 4)):
        log.append(some_norms(*steps))
        log.append(some_norms(*steps, role="weight", names=("fc.weight", "fc.bias", "层<b>")))
    log.close()
    (path,) = folder.glob("norms-000001.arrows")
    return path


def test_what_was_written_is_read_by_step(tmp_path: Path) -> None:
    written(tmp_path)
    table, problems = read_norms(tmp_path)
    assert (table.steps, problems) == ([0, 1, 2, 3, 4], [])
    one = table.at(3)
    assert one.names["layer"].texts() == ["fc.weight", "fc.bias", "fc.weight", "fc.bias", "层<b>"]
    assert one.names["role"].texts() == ["gradient"] * 2 + ["weight"] * 3
    assert one.floats["l2"].tolist() == [3.0, 3.5, 3.0, 3.5, 4.0]


def test_a_file_torn_at_any_byte_gives_its_whole_pieces(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole, seen = path.read_bytes(), set()
    for cut in [*range(0, len(whole), 17), len(whole)]:
        path.write_bytes(whole[:cut])
        table, problems = read_norms(tmp_path)
        assert problems == []
        assert table.steps == [0, 1, 2, 3, 4][: len(table.steps)]
        seen.add(len(table.steps))
    assert {0, 2, 3, 5} <= seen


def test_damage_is_said_and_a_folder_without_any_is_empty(tmp_path: Path) -> None:
    assert read_norms(tmp_path / "nowhere")[0].steps == []
    path = written(tmp_path)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 :] = b"\x55" * (len(whole) - len(whole) // 2)
    path.write_bytes(whole)
    table, problems = read_norms(tmp_path)
    assert table.steps and len(problems) == 1 and "norms-000001.arrows is damaged" in problems[0]
    path.write_bytes(b"no stream at all")
    assert len(read_norms(tmp_path)[1]) == 1


def test_the_writer_writes_them_beside_the_series(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    writer = TraceWriter(run, 0)
    writer.norms(some_norms(7))
    writer.close()
    assert open_trace(run).layer_norms(0).steps == [7]
