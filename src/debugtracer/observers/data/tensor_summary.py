"""Summary of one tensor of a batch: a few reductions on the CPU, as plain numbers; nothing is copied whole or
changed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

SAMPLED = 1 << 16  # elements that mean and standard deviation are taken of at most; more are thinned evenly (ours)
HASHED = 64  # elements, evenly spread, that stand for the content of a tensor (ours)
BUCKETS = 256  # of the histogram of token ids, by their lowest byte (ours)
CHANNELS = 4096  # widest channel dimension looked at one by one (ours)
CLASSES = 256  # widest range of integers that may be labels (ours)
CUT_LINES = 8  # 1 / that of an image's lines, at its lower edge, hold one value before it is called cut off (ours)
COLOURS = 4  # largest dimension of an image that may be its channels (ours)
BLANK_WIDTH = 16  # values a row has at least before a constant row is called blank (ours)


@dataclass
class TensorSummary:
    """What one tensor of one batch is like. `role`: float, ids, label, mask, other."""

    role: str
    rows: int
    mean: float = 0.0
    std: float = 0.0
    low: float = 0.0
    high: float = 0.0
    nonfinite: int = 0
    minus_inf_only: bool = False
    """Every non-finite value is -inf: an additive mask."""
    bad_rows: tuple[int, ...] = ()
    row_low: list[float] | None = None
    row_high: list[float] | None = None
    """Range of each row."""
    cut: tuple[int, ...] = ()
    """Images whose lowest lines hold one value a channel, as a decoder leaves what a truncated file lacks."""
    plain_edge: bool = False
    """The very last line of some image holds one value: a background, a frame."""
    channels: int = 0
    still: tuple[int, ...] = ()
    """Channels that have one value in the whole batch."""
    counts: Tensor | None = None
    """ids: histogram of the lowest byte; label: of value - low."""
    nats: float | None = None
    """ids: divergence from the learnt histogram, once it was taken."""
    content: tuple[object, ...] = ()
    """A few elements, evenly spread."""


def readable(leaf: Tensor) -> bool:
    """True for a dense tensor on the CPU that ordinary reductions understand."""
    return (
        leaf.device.type == "cpu"
        and leaf.layout is torch.strided
        and not leaf.is_quantized
        and not leaf.is_complex()
        and leaf.numel() > 0
        and leaf.dim() > 0
        and (
            leaf.dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16) or not leaf.is_floating_point()
        )
    )


def look_at(leaf: Tensor) -> TensorSummary:
    """The numbers of a readable leaf; call it under `no_grad`. About 30-60 us for a small one. Raises RuntimeError on
    exotic dtypes."""
    values = leaf.detach()
    return look_at_floats(values) if values.is_floating_point() else look_at_integers(values)


def thinned(values: Tensor, most: int) -> Tensor:
    """Thin to at most about `most` elements, evenly spread, as a flat tensor; a view where that is possible."""
    step = max(1, values.numel() // most)
    if step == 1:
        return values.reshape(-1)
    if values.is_contiguous():
        return values.view(-1)[::step]
    return values.reshape(values.shape[0], -1)[:: max(1, min(step, values.shape[0] // 8 or 1))].reshape(-1)[::step]


def content_of(values: Tensor) -> tuple[object, ...]:
    """Return shape and a few elements: equal for equal tensors, practically never for others."""
    flat = thinned(values, HASHED)[: 2 * HASHED]
    return (tuple(values.shape), *flat.tolist())


def look_at_floats(values: Tensor) -> TensorSummary:
    """Measure range by row, moments, non-finite values and channels that do not move."""
    rows = values.shape[0]
    dim, lows, highs = ranges(values)
    row_low, row_high = (lows, highs) if lows.dim() == 1 else (lows.amin(1), highs.amax(1))
    low, high = float(row_low.min()), float(row_high.max())
    look = TensorSummary("float", rows, low=low, high=high, content=content_of(values))
    some = thinned(values, SAMPLED)
    if not (math.isfinite(low) and math.isfinite(high)):
        look_at_nonfinite(values, some, look)
        return look
    look.mean, look.std = moments(some)
    look.row_low, look.row_high = row_low.tolist(), row_high.tolist()
    look.cut, look.plain_edge = cut_images(values)
    if dim is not None and rows > 1:
        look.channels = values.shape[dim]
        if look.channels <= CHANNELS:
            look.still = tuple((lows.amin(0) == highs.amax(0)).nonzero().view(-1).tolist())
    return look


def ranges(values: Tensor) -> tuple[int | None, Tensor, Tensor]:
    """The channel dimension (columns of a table, planes of images, the narrower dimension of sequences), least and most
    by row and channel."""
    if values.dim() == 1:
        return None, values, values
    if values.dim() == 2:
        return 1, values, values
    if values.dim() == 3 and values.shape[2] < values.shape[1]:
        return 2, values.amin(1), values.amax(1)  # two calls: aminmax along a dimension is 20 times slower (torch 2.13)
    planes = values.reshape(*values.shape[:2], -1)
    return 1, planes.amin(2), planes.amax(2)


def moments(flat: Tensor) -> tuple[float, float]:
    """Return mean and standard deviation of finite values; std_mean takes 20 times as long (torch 2.13)."""
    values = flat.to(torch.float64 if flat.dtype is torch.float64 else torch.float32)
    mean = values.mean()
    return float(mean), float(torch.linalg.vector_norm(values - mean)) / math.sqrt(values.numel())


def look_at_nonfinite(values: Tensor, some: Tensor, look: TensorSummary) -> None:
    """Record where non-finite values are, and what the rest is like."""
    bad = ~torch.isfinite(values.reshape(look.rows, -1))
    look.nonfinite = int(bad.sum())
    holds = values.reshape(look.rows, -1)[~bad]
    masks = not holds.numel() or bool((holds == holds[0]).all())  # 0 and -inf; a logarithm of 0 stands among others
    look.minus_inf_only = masks and bool((values.reshape(look.rows, -1)[bad] == -math.inf).all())
    look.bad_rows = tuple(bad.any(1).nonzero().view(-1).tolist())
    finite = some[torch.isfinite(some)]
    if finite.numel():
        look.mean, look.std = moments(finite)
        look.low, look.high = float(finite.min()), float(finite.max())


def look_at_integers(values: Tensor) -> TensorSummary:
    """Measure range, role and histogram of integers."""
    rows = values.shape[0]
    if values.dtype is torch.bool:
        return TensorSummary("mask", rows, high=1.0, content=content_of(values))
    least, most = torch.aminmax(values)
    low, high = int(least), int(most)
    look = TensorSummary("other", rows, low=low, high=high, content=content_of(values))
    if values.numel() == rows:
        look.role = "label"
        if high - low < CLASSES:
            look.counts = torch.bincount((values.reshape(-1) - low).to(torch.int64))
    elif values.dim() == 2 and values.shape[1] > 1 and values.dtype is not torch.uint8:
        look.role = "mask" if low >= 0 and high <= 1 else "ids"
        if look.role == "ids":
            some = thinned(values, SAMPLED)
            look.counts = torch.bincount((some & (BUCKETS - 1)).to(torch.int64), minlength=BUCKETS)
    elif values.dim() > 2:  # images of integers
        flat = values.reshape(rows, -1)
        look.role, look.row_low, look.row_high = "float", flat.amin(1).tolist(), flat.amax(1).tolist()
        look.mean, look.std = moments(thinned(values, SAMPLED))
        look.cut, look.plain_edge = cut_images(values)
    return look


def lines_of(images: Tensor) -> int | None:
    """The dimension of the lines of a batch of images, channels first or last; None for what is no such batch."""
    if images.dim() != 4:
        return None
    lines = 2 if images.shape[1] <= COLOURS else 1 if images.shape[3] <= COLOURS else None
    return lines if lines and min(images.shape[lines], images.shape[lines + 1]) >= BLANK_WIDTH else None


def cut_images(images: Tensor) -> tuple[tuple[int, ...], bool]:
    """The images whose lowest lines hold one value a channel, and whether the last line of any does."""
    dim = lines_of(images)
    if dim is None:
        return (), False
    height = images.shape[dim]
    if not plain_below(images, dim, 1):
        return (), False
    return plain_below(images, dim, height // CUT_LINES), True


def plain_below(images: Tensor, dim: int, lines: int) -> tuple[int, ...]:
    """The images of which these many lines at the lower edge hold one value a channel; two reductions over them."""
    lowest = images.narrow(dim, images.shape[dim] - lines, lines)
    plain = lowest.amin((dim, dim + 1)) == lowest.amax((dim, dim + 1))
    return tuple(plain.all(1).nonzero().view(-1).tolist())


def cut_share(image: Tensor, dim: int) -> float:
    """The share of the lines of one image (`dim`: as in its batch) that hold its last value, from the lower edge."""
    lines = image.movedim(dim - 1, 0)
    same = (lines == lines[-1:]).reshape(lines.shape[0], -1).all(1).tolist()[::-1]
    return (same.index(False) if False in same else len(same)) / len(same)


def blank_rows(look: TensorSummary, width: int) -> tuple[int, ...]:
    """The rows of at least BLANK_WIDTH values that are all the same."""
    if look.row_low is None or look.row_high is None or width < BLANK_WIDTH:
        return ()
    return tuple(row for row, (low, high) in enumerate(zip(look.row_low, look.row_high, strict=True)) if low == high)


def entropy_of(counts: Tensor) -> float:
    """The entropy of a histogram, nats."""
    share = counts.double() / max(float(counts.sum()), 1.0)
    return float(-(share * share.clamp_min(1e-300).log()).sum())


def divergence(counts: Tensor, learned: Tensor) -> float:
    """The Kullback-Leibler divergence of a histogram from a learned one (plus half a count a bucket), nats."""
    p = counts / counts.sum()
    q = learned + 0.5
    return float(torch.xlogy(p, p).sum() - (p * (q / q.sum()).log()).sum())
