"""Indices of lines that raised."""

from __future__ import annotations

import weakref
from pathlib import Path

import torch
from torch.utils.data import DataLoader

from debugtracer.callsites.crash_site import CrashSite
from debugtracer.observers.program.index_used import index_used
from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo
from debugtracer.trace.birth import Frame

PROGRAM = """\
from torch.utils.data import DataLoader, TensorDataset
import torch
places = torch.arange(6) * 2
loader = DataLoader(TensorDataset(places), batch_size=3)
table = torch.zeros(8)
for (rows,) in loader:
    table[rows]
def later(given):
    places = given + 1
    return table[places]
def handed(given):
    return table[given.long()]
"""


def used(tmp_path: Path, line: int, tensors: dict[str, torch.Tensor], log: BatchLog):
    (tmp_path / "train.py").write_text(PROGRAM)
    return index_used(CrashSite(frames=(Frame(str(tmp_path / "train.py"), line),), tensors=tensors), log)


def test_the_lines_before_the_one_that_raised(tmp_path):
    found = used(tmp_path, 10, {}, BatchLog())
    assert found is not None
    assert (found.text, [frame.line for frame in found.made]) == ("places", [9])


def test_values_of_a_batch_are_made_where_its_data_set_was(tmp_path):
    rows, owner = torch.arange(3), DataLoader(torch.utils.data.TensorDataset(torch.arange(6)))
    info = LoaderInfo(weakref.ref(owner), "TensorDataset", 3, 0, "", Frame(str(tmp_path / "train.py"), 4))
    log = BatchLog()
    log.add(Batch(info, (0, 1, 2), 0, 0.0, [("batch[0]", weakref.ref(rows))], 3))
    found = used(tmp_path, 7, {"rows": rows}, log)
    assert found is not None
    assert [frame.line for frame in found.made] == [3]


def test_nothing_where_it_is_not_known_what_computed_them(tmp_path):
    assert used(tmp_path, 12, {}, BatchLog()) is None
    assert used(tmp_path, 5, {}, BatchLog()) is None
