"""Datasets that read one file for each sample."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from torch.utils.data import Subset

from debugtracer.callsites.repeated_read import repeated_read


class Manifest:
    path = "m.json"

    def __getitem__(self, i):
        with open(self.path) as f:
            row = json.load(f)[i]
        return row


class Helped:
    def table(self):
        return json.loads(Path("m.json").read_text())

    def __getitem__(self, i):
        return self.table()[i]


class OwnFiles:
    files = ("a.json",)

    def __getitem__(self, i):
        name = self.files[i]
        with open(name) as f:
            return json.load(f)


class Once:
    rows = None

    def __getitem__(self, i):
        if self.rows is None:
            self.rows = json.loads(Path("m.json").read_text())
        return self.rows[i]


class Cached:
    @functools.lru_cache  # noqa: B019
    def table(self):
        return json.loads(Path("m.json").read_text())

    def __getitem__(self, i):
        return self.table()[i]


class Mapped:
    def __getitem__(self, i):
        return np.load("m.npy", mmap_mode="r")[i]


class Sought:
    def __getitem__(self, i):
        with open("m.bin", "rb") as f:
            f.seek(8 * i)
            return f.read(8)


def test_a_read_without_the_index_is_the_same_for_each_sample():
    found = repeated_read(Manifest())
    assert found is not None
    assert found.code == "row = json.load(f)[i]"
    assert repeated_read(Subset(Manifest(), [0])) == found
    helped = repeated_read(Helped())
    assert helped is not None
    assert helped.code == 'return json.loads(Path("m.json").read_text())'


@pytest.mark.parametrize("dataset", [OwnFiles(), Once(), Cached(), Mapped(), Sought(), [1, 2], None])
def test_a_file_of_its_own_a_cache_a_part_and_what_has_no_source(dataset):
    assert repeated_read(dataset) is None
