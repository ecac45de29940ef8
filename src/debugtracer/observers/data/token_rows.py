"""Rows of token ids: which positions are padding, and which n-gram is repeated over and over."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor

GRAM, TIMES = 13, 32  # longest n-gram, repeats that count (the filter of OLMo 2)
LEAST_WIDTH = 8  # columns before padding is looked for (ours)


class Repeat(NamedTuple):
    """A row in which one n-gram stands many times."""

    row: int
    length: int
    """Of the n-gram, tokens."""
    share: float
    """Of the row's own tokens that lie in the repetition."""


def is_padding_mask(values: Tensor) -> bool:
    """True for zeros and ones with the ones of each row in one block at its left or right end, as tokenizers make
    masks."""
    kept = values.bool()
    steps = (kept[:, 1:] != kept[:, :-1]).sum(1)
    return bool((steps <= 1).all()) and bool((kept[:, 0] | kept[:, -1] | ~kept.any(1)).all())


def pad_value(values: Tensor) -> int | None:
    """The value at which at least half of the rows end, when it is repeated there; None when rows do not look
    padded."""
    if values.shape[1] < LEAST_WIDTH:
        return None
    tails = values[:, -2:].tolist()
    value, times = Counter(a for a, b in tails if a == b).most_common(1)[0] if any(a == b for a, b in tails) else (0, 0)
    return int(value) if times * 2 >= len(tails) and times >= 2 else None


def lengths_of(values: Tensor, pad: int) -> Tensor:
    """The tokens of each row before its tail of `pad`."""
    own = values.ne(pad)
    tail = own.flip(1).to(torch.uint8).argmax(1)
    return torch.where(own.any(1), values.shape[1] - tail, torch.zeros_like(tail))


def repeats(values: Tensor, lengths: Tensor | None) -> list[Repeat]:
    """Find rows in which an n-gram of at most GRAM tokens is repeated at least TIMES times in a row, padding left
    out."""
    found: dict[int, Repeat] = {}
    width = values.shape[1]
    inside = None if lengths is None else torch.arange(width, device="cpu")[None] < lengths[:, None]
    for n in range(1, GRAM + 1):
        needed = n * (TIMES - 1)
        if needed + n > width:
            break
        same = values[:, n:] == values[:, :-n]
        if inside is not None:
            same = same & inside[:, n:]
        summed = torch.nn.functional.pad(same.to(torch.int32).cumsum(1), (1, 0))
        runs = (summed[:, needed:] - summed[:, :-needed]) == needed
        for row in runs.any(1).nonzero().view(-1).tolist():
            own = int(lengths[row]) if lengths is not None else width
            covered = int(runs[row].sum()) + needed + n - 1
            found.setdefault(row, Repeat(row, n, covered / max(own, 1)))
    return list(found.values())
