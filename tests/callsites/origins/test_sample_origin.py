"""Where the tensors of a batch are made."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path

import pytest
from torch.utils.data import Subset

from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, TensorDataset, random_split
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
class Collator:
    def __call__(self, rows):
        ids = torch.stack([row["ids"] for row in rows])
        pad = lambda xs: torch.stack(xs)
        labels = ids.clone()
        labels[ids == 0] = -100
        return {"ids": pad([row["ids"] for row in rows]), "labels": labels}
class Trimmed(Dataset):
    def __getitem__(self, i):
        ids = torch.arange(i) + 1
        return {"ids": ids[:8], "labels": ids}
shards = [TensorDataset(a, b * n) for n in range(3)]
joined = DataLoader(ConcatDataset(shards), batch_size=2)
def together(rows):
    out = {"ids": [], "labels": [], "mask": []}
    for row in rows:
        out["labels"].append(row["labels"] + [-100] * 3)
        out["mask"].append([1] * 3)
    return {key: torch.tensor(value) for key, value in out.items()}
def stacked(rows):
    return {key: torch.stack([row[key] for row in rows]) for key in rows[0]}
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


class Wrapped:
    """As Trainer puts one around the collate_fn of the user's."""

    def __init__(self, inner):
        self.data_collator = inner

    def __call__(self, rows):
        return self.data_collator(rows)


def test_an_object_that_collates_and_a_wrapper_around_it(program):
    for collate in (program.Collator(), functools.partial(program.Collator()), Wrapped(program.Collator())):
        assert lines(sample_origin(program.Trimmed(), collate, None, "batch['labels']"))[0] == 27


def test_what_is_put_together_of_the_samples_is_made_by_the_dataset(program):
    links = sample_origin(program.Trimmed(), program.Collator(), None, "batch['ids']")
    assert [(link.frame.line, link.kind) for link in links] == [(28, "made"), (32, "formed"), (31, "made")]


def test_data_sets_that_are_joined_lead_to_their_list(program):
    built = Frame(program.__file__, 34)
    assert lines(sample_origin(program.joined.dataset, None, built, "batch[0]")) == [33]


def test_a_dict_that_a_collate_fills_by_its_keys(program):
    found = sample_origin(program.Pairs(), program.together, None, "batch['labels']")
    assert [(link.frame.line, link.kind) for link in found] == [(38, "handed"), (6, "made")]
    assert lines(sample_origin(program.Pairs(), program.together, None, "batch['mask']")) == [39]


def test_a_dict_stacked_key_by_key_is_made_by_the_dataset(program):
    assert lines(sample_origin(program.Pairs(), program.stacked, None, "batch['labels']")) == [42, 6]
