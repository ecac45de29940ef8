"""Data code as people write it, in a file of the user's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

CODE = '''"""Data code."""
import math
import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset


def standardised(x):
    centred = x - x.mean()
    spread = x.std()
    return centred / spread


def number(text):
    try:
        return float(text)
    except ValueError:
        return float("nan")


class Level:
    def __call__(self, x):
        return np.log(x.sum(keepdims=True))


class Chain:
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Rows(Dataset):
    def __init__(self, how, table):
        self.how = how
        self.table = table
        self.asked = 0
        self.cache = {}
        self.samples = {}

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        self.asked += 1
        self.cache[i] = i
        return getattr(self, self.how)(i), i

    def by_function(self, i):
        row = standardised(self.table[i])
        return torch.from_numpy(row)

    def by_chain(self, i):
        return Chain(lambda x: x * 2.0, Level())(self.table[i])

    def in_place(self, i):
        x = torch.as_tensor(self.table[i]).clone()
        x -= x.mean()
        x /= x.abs().max()
        return x

    def masked(self, i):
        x = self.table[i].copy()
        gaps = np.where(x == 0, np.nan, x)
        x = np.nan_to_num(gaps)
        ratio = 1.0 / (x[0] - x[1])
        return ratio * x

    def stored(self, i):
        row = self.table[i]
        return torch.as_tensor(row) * 2

    def parsed(self, i):
        return torch.tensor([float(cell) for cell in self.table[i].split(";")])

    def marked(self, i):
        return torch.tensor([number(cell) for cell in self.table[i].split(";")])

    def rooted(self, i):
        return [math.sqrt(4.0), float(np.sqrt(self.table[i][0]))]

    def halved(self, i):
        return self.table[i].astype(np.float16)

    def empty(self, i):
        chosen = self.table[i][self.table[i] > 100]
        return chosen.mean()

    def drawn(self, i):
        scale = float(torch.rand(()) > 0.5)
        return np.float64(1.0) / np.float64(scale)

    def kept(self, i):
        if i not in self.samples:
            self.samples[i] = standardised(self.table[i])
        return self.samples[i]

    def consumed(self, i):
        rows = iter([self.table[i] * 0.0, self.table[i] + 1.0])
        return np.log(next(rows)).sum()

    def scaled(self, i):
        x = self.table[i]
        if i >= 8:
            x = self.converted(x)
        return x

    def converted(self, x):
        return x * 1000.0


class Stream(IterableDataset):
    def __init__(self, table):
        self.table = table

    def __iter__(self):
        for row in self.table:
            share = row / row.sum()
            yield torch.as_tensor(share)


def collated(samples):
    x = np.stack([np.asarray(x) for x, _ in samples])
    return (x - x.mean(0)) / x.std(0)
'''


def module(folder: Path) -> Any:
    """The code as a module of a user's file."""
    file = folder / "pipeline_code.py"
    file.write_text(CODE)
    spec = importlib.util.spec_from_file_location(f"pipeline_code_{abs(hash(folder))}", file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[made.__name__] = made
    spec.loader.exec_module(made)
    return made


def line_of(text: str) -> int:
    """The line of the code that holds this text."""
    return next(n for n, line in enumerate(CODE.splitlines(), 1) if text in line)
