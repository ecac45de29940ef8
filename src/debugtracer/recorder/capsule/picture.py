"""A row of a batch as a person looks at it: pixels of what has the shape of an image, points of what has that of a
signal."""

from __future__ import annotations

import base64
from typing import Any

import torch

from debugtracer.trace.number import number

SIDE = 40  # pixels of a picture, at most, in each direction
LEAST_SIDE = 8
LEAST_MAP = 16  # both sides of a matrix that is shown as a picture, such as a spectrogram
POINTS = 128  # of a signal
LEAST_POINTS = 32
MOST_BAD = 400  # pixels that are not finite, named one by one


def looks_of(row: torch.Tensor) -> dict[str, Any]:
    """Return `picture` or `signal`, or nothing, for a row on the host with values of any dtype."""
    if not row.is_floating_point() and row.dtype != torch.uint8:
        return {}
    grid = grid_of(row)
    if grid is not None:
        return {"picture": picture(grid)}
    line = row.reshape(-1) if row.dim() == 1 or (row.dim() == 2 and row.shape[0] == 1) else None
    if line is None or line.numel() < LEAST_POINTS or not row.is_floating_point():
        return {}
    shown = line[:: -(-line.numel() // POINTS)].to(torch.float64)
    return {"signal": [number(float(f"{value:.5g}")) for value in shown.tolist()]}


def grid_of(row: torch.Tensor) -> torch.Tensor | None:
    """The row as (height, width, channels) if it has the shape of an image; else None."""
    if row.dim() == 3:
        first, last = row.shape[0] in (1, 3), row.shape[2] in (1, 3)
        grid = row.permute(1, 2, 0) if first else row if last else None
        return grid if grid is not None and min(grid.shape[:2]) >= LEAST_SIDE else None
    return row.unsqueeze(2) if row.dim() == 2 and min(row.shape) >= LEAST_MAP else None


def picture(grid: torch.Tensor) -> dict[str, Any]:
    """Return bytes of at most SIDE x SIDE pixels from (height, width, channels), the range of the finite values over
    0..255; and which pixels are not finite."""
    height, width = (-(-size // SIDE) for size in grid.shape[:2])
    shown = grid[::height, ::width].to(torch.float64)
    finite = shown.isfinite()
    known = grid.to(torch.float64)[grid.isfinite()] if grid.is_floating_point() else torch.tensor([0.0, 255.0])
    low, high = (float(known.min()), float(known.max())) if known.numel() else (0.0, 1.0)
    # what is larger than the whole range of a float64 has no span
    span = high - low if 0 < high - low < float("inf") else 1.0
    levels = (((torch.where(finite, shown, low) - low) / span).clamp(0, 1) * 255).round().to(torch.uint8)
    bad = (~finite).any(dim=2).reshape(-1).nonzero().reshape(-1)[:MOST_BAD].tolist()
    return {
        "height": levels.shape[0],
        "width": levels.shape[1],
        "channels": levels.shape[2],
        "pixels": base64.b64encode(bytes(levels.reshape(-1).tolist())).decode(),
        "bad": bad,
    }
