"""Where the tensors of a batch are made."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from torch.utils.data import Subset

from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
class Pairs(Dataset):
    def __getitem__(self, i):
        ids = list(range(i))
        labels = [-100] * i
        return {"ids": ids, "labels": torch.tensor(labels)}
class Stream(IterableDataset):
    def __iter__(self):
        for i in range(3):
            x = torch.ones(2) / i
            yield x, i
def collate(rows):
    x = torch.zeros(len(rows)) + 1
    return x, len(rows)
a = torch.randn(6, 2)
b = a.log()
whole = TensorDataset(a, b)
part, rest = random_split(whole, [4, 2])
loader = DataLoader(part, batch_size=2)
inline = DataLoader(TensorDataset(a, b), batch_size=2)
"""


@pytest.fixture
def program(tmp_path: Path):
    file = tmp_path / "data_made.py"
    file.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("data_made", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["data_made"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["data_made"]


def lines(links) -> list[int]:
    return [link.frame.line for link in links]


def test_a_key_of_what_getitem_returns(program):
    assert lines(sample_origin(program.Pairs(), None, None, "batch['labels']")) == [6]
    assert lines(sample_origin(Subset(program.Pairs(), [0]), None, None, "batch['ids']")) == [5]


def test_a_place_of_what_a_stream_yields(program):
    assert lines(sample_origin(program.Stream(), None, None, "batch[0]")) == [11]


def test_a_collate_that_computes_a_tensor_made_it(program):
    assert lines(sample_origin(program.Pairs(), program.collate, None, "batch[0]")) == [14]


@pytest.mark.parametrize(("line", "loader"), [(20, "loader"), (21, "inline")])
def test_the_tensors_of_a_tensor_dataset(program, line, loader):
    built = Frame(program.__file__, line)
    dataset = program.whole if loader == "inline" else program.part
    assert lines(sample_origin(dataset, getattr(program, loader).collate_fn, built, "batch[1]")) == [17]


def test_a_dataset_of_a_library_says_nothing(program):
    assert sample_origin([1, 2, 3], None, None, "batch") == ()
    assert sample_origin(program.whole, None, None, "batch[0]") == ()
