"""The one number that makes a row unlike the others of its batch, and the line of the data file that it stands on."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.data_lines import named_files, record_line
from debugtracer.callsites.stored_place import MOST_BYTES, stored_place
from debugtracer.trace.birth import Frame

MOST_VALUES = 1 << 18  # of a batch that is looked at (ours)
TIMES = 20.0  # the distance of any other row at that place, from their median (ours)
LEAST_DIGITS = 3  # of a number that is looked for in a file (ours)


class FarElement(NamedTuple):
    """Its place within the row, the number, and the least and the most that the other rows of the batch have there."""

    place: tuple[int, ...]
    value: float
    low: float
    high: float


def far_element(leaf: Tensor, row: int) -> FarElement | None:
    """The number of a row that lies furthest from those of the other rows at its place, where it is far beyond all of
    them; None where the row has none, or the tensor is no table or sequence. Syncs the host."""
    if leaf.dim() not in (1, 2, 3) or not 4 <= len(leaf) <= leaf.numel() <= MOST_VALUES or not 0 <= row < len(leaf):
        return None
    flat = leaf.detach().double().reshape(len(leaf), -1)
    others = flat[[i for i in range(len(leaf)) if i != row]]
    centre = others.median(dim=0).values
    reach = (others - centre).abs().amax(dim=0)
    apart = (flat[row] - centre).abs()
    scale = torch.where(reach > 0, reach, reach.max())
    at = int((apart / scale.clamp_min(1e-30)).argmax())
    if not bool(torch.isfinite(apart[at])) or float(apart[at]) <= TIMES * float(scale[at]):
        return None
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(at), leaf.shape[1:])) if leaf.dim() > 1 else ()
    return FarElement(place, float(flat[row, at]), float(others[:, at].min()), float(others[:, at].max()))


def line_of(number: float, dataset: Any) -> Frame | None:
    """The only line of the data files of the program on which a number stands as it is, but for one of few digits; else
    the one that it was read from, where the dataset keeps it in an array that is a column of a file, scaled or not."""
    text = f"{number:.0f}" if number == int(number) else f"{number:.7g}"
    small = [file for file in named_files(None, dataset) if file.stat().st_size <= MOST_BYTES]
    plain = sum(c.isdigit() for c in text) >= LEAST_DIGITS
    found = record_line(small, (text, f"{text}.0"), None) if plain else None
    place = stored_place(dataset, number) if found is None and small else None
    return found if place is None else place.record
