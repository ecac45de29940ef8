"""A bad sample's place in a batch is taken by a neighbour, within a share of the dataset."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.recorder.dataset_name import dataset_name
from debugtracer.recorder.left_out_samples import LeftOutSamples

NAME = "TensorDataset of 100 samples"


def begun(left_out: LeftOutSamples) -> Any:
    loader = DataLoader(TensorDataset(torch.zeros(100)), batch_size=4)
    left_out.begins(loader)
    iterator = iter(loader)
    left_out.begun(loader, iterator)
    return iterator


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([1, 7, 3], [1, 1, 3]),
        ([7, 8, 3, 4], [3, 3, 3, 4]),
        ([7, 8], [7, 8]),
        (7, 7),
        (("a", "b"), ("a", "b")),
    ],
)
def test_a_neighbour_takes_its_place(drawn: Any, read: Any) -> None:
    left_out = LeftOutSamples({NAME: {7, 8}})
    assert left_out.active and left_out.replaced(begun(left_out), drawn) == read


def test_other_datasets_are_read_as_they_are() -> None:
    left_out = LeftOutSamples({"Other of 9 samples": {1}})
    assert left_out.replaced(begun(left_out), [1, 2]) == [1, 2]
    assert not LeftOutSamples({}).active


def test_no_more_than_a_share_is_left_out() -> None:
    left_out = LeftOutSamples({NAME: set(range(50, 90))})  # those of a list do not count
    assert left_out.may_add(NAME, 100, range(20)) and not left_out.may_add(NAME, 100, range(21))
    assert left_out.may_add(NAME, 10_000, range(50)) and not left_out.may_add(NAME, 10_000, range(100, 151))
    left_out.add(NAME, range(15))
    assert not left_out.may_add(NAME, 100, range(15, 30))


def test_batches_are_looked_at_only_where_somebody_asks() -> None:
    left_out = LeftOutSamples({})
    assert not left_out.drops("bad")
    left_out.screen_with(lambda data: bool(data == "bad"))
    assert left_out.drops("bad") and not left_out.drops("good")
    left_out.reset()
    assert not left_out.drops("bad") and dataset_name([1, 2]) == "list of 2 samples"


def test_the_first_sample_of_a_list_that_comes_up_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    left_out = LeftOutSamples({NAME: {7, 8}})
    left_out.add(NAME, [3])  # found in this run: told where it was found
    iterator = begun(left_out)
    left_out.replaced(iterator, [3, 4])
    assert capsys.readouterr().err == ""
    for drawn in ([1, 8, 3], [1, 7, 3]):
        left_out.replaced(iterator, drawn)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"sample 8 of {NAME} came up and was left out, as the skip list says" in said
