"""Hand-written layers recognised by what they compute: torch's own function that gives the same numbers on healthy
inputs, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.recorder.state.rng import RngState

# root mean square of the difference, relative to that of the values, at which two functions are the same (ours; eps of
# 1e-8 to 1e-5 lies within)
AGREE = 1e-3
Run = Callable[..., Tensor]


@dataclass(frozen=True)
class Standard:
    """A function of torch in the place of a hand-written layer."""

    words: str
    run: Run
    """Takes the tensors the layer takes."""


def recognised(
    forward: Callable[..., Any], given: list[Tensor], parameters: list[nn.Parameter], seed: int = 0
) -> Standard | None:
    """Return torch's function that agrees with `forward` on two healthy inputs; no generator moves, no grad is
    recorded."""
    state = RngState()
    try:
        with torch.no_grad():
            trials = [healthy(given, seed + number, kind) for number, kind in enumerate(("normal", "wide", "share"))]
            wanted = [(trial, made) for trial in trials if (made := answer(forward, trial)) is not None]
            if not wanted:
                return None
            return next(
                (
                    one
                    for one in candidates(given, parameters)
                    if all(agrees(one.run, trial, made) for trial, made in wanted)
                ),
                None,
            )
    finally:
        state.restore()


def healthy(given: list[Tensor], seed: int, kind: str) -> list[Tensor]:
    """Make random tensors of the same shapes; masks leave the first place, integers stay as they are."""
    made = torch.Generator().manual_seed(seed)
    found = []
    for tensor in given:
        if tensor.is_floating_point():
            value = torch.randn(tensor.shape, generator=made, dtype=torch.float64) * (3.0 if kind == "wide" else 1.0)
            value = value.sigmoid() if kind == "share" else value
            found.append(value.to(tensor))
        elif tensor.dtype == torch.bool:
            mask = torch.rand(tensor.shape, generator=made) < 0.6
            mask[..., 0] = True
            mask[..., -1] = False
            found.append(mask.to(tensor.device))
        else:
            found.append(tensor.clone())
    return found


def answer(forward: Callable[..., Any], trial: list[Tensor]) -> Tensor | None:
    """What it gives; None where that is not one finite tensor."""
    try:
        made = forward(*[t.clone() for t in trial])
    except Exception:
        return None  # the user's code, or torch on shapes that do not fit
    return made if isinstance(made, Tensor) and made.is_floating_point() and bool(torch.isfinite(made).all()) else None


def agrees(run: Run, trial: list[Tensor], wanted: Tensor) -> bool:
    """True for the same shape and a mean difference within AGREE, since one row of small variance shows an eps
    alone."""
    made = answer(run, trial)
    if made is None or made.shape != wanted.shape:
        return False
    return float((made.double() - wanted.double()).pow(2).mean().sqrt()) <= AGREE * max(
        float(wanted.double().pow(2).mean().sqrt()), 1e-3
    )


def candidates(given: list[Tensor], parameters: list[nn.Parameter]) -> Iterator[Standard]:
    """What torch has for these inputs, plain first."""
    x = given[0]
    if len(given) == 1:
        yield from (Standard(words, run) for words, run in ONE)
        yield from dims(x)
        yield from norms(x, parameters)
    elif len(given) == 2:
        yield from (Standard(words, run) for words, run in TWO)
    if 3 <= len(given) <= 4 and x.dim() >= 3:
        yield from (Standard(words, run) for words, run in ATTENTION[len(given)])


def dims(x: Tensor) -> Iterator[Standard]:
    """The candidates that are functions along one dimension."""
    for dim in dict.fromkeys((-1, 1, 0)):
        if -x.dim() <= dim < x.dim():
            for words, function in (
                ("softmax", F.softmax),
                ("log_softmax", F.log_softmax),
                ("logsumexp", torch.logsumexp),
                ("normalize", F.normalize),
            ):
                yield Standard(f"torch's {words} over dimension {dim}", lambda t, f=function, d=dim: f(t, dim=d))


def norms(x: Tensor, parameters: list[nn.Parameter]) -> Iterator[Standard]:
    """The candidate normalisations, with the layer's parameters as gain and shift; also by the unbiased deviation."""
    for words, run, size, count in statistics(x):
        fitting = [p for p in parameters if p.numel() == size]
        pairs = [(None, None), *((p, None) for p in fitting), *((a, b) for a in fitting for b in fitting if a is not b)]
        for unbiased in (1.0, math.sqrt((count - 1) / count) if count > 1 else 1.0):
            for gain, shift in pairs:
                yield Standard(
                    f"torch's {words}", lambda t, r=run, g=gain, s=shift, u=unbiased: affine(r(t) * u, g, s, t)
                )


def statistics(x: Tensor) -> Iterator[tuple[str, Run, int, int]]:
    """Yield name, function, size of gain and shift, and how many values one statistic is made of."""
    if not x.dim():
        return
    last, rows = x.shape[-1], x.shape[0]
    yield "layer_norm", lambda t: F.layer_norm(t, t.shape[-1:]), last, last
    yield "rms_norm", lambda t: F.rms_norm(t, t.shape[-1:], eps=1e-6), last, last
    if x.dim() >= 2:
        yield (
            "batch_norm",
            lambda t: F.batch_norm(t, None, None, training=True),
            x.shape[1],
            x.numel() // max(x.shape[1], 1),
        )
        yield (
            "layer_norm",
            lambda t: F.layer_norm(t, t.shape[1:]),
            x[0].numel() if rows else 0,
            x[0].numel() if rows else 0,
        )
    if x.dim() >= 3:
        yield "instance_norm", F.instance_norm, x.shape[1], math.prod(x.shape[2:])


def affine(x: Tensor, gain: Tensor | None, shift: Tensor | None, like: Tensor) -> Tensor:
    """Apply gain and shift along the dimension they fit: the last, else the second."""
    for tensor, times in ((gain, True), (shift, False)):
        if tensor is not None:
            fit = (
                tensor.reshape(-1)
                if tensor.numel() == like.shape[-1]
                else tensor.reshape(-1, *([1] * (like.dim() - 2)))
            )
            x = x * fit if times else x + fit
    return x


ONE: tuple[tuple[str, Run], ...] = (
    ("torch's sigmoid", torch.sigmoid), ("torch's logsigmoid", F.logsigmoid), ("torch's softplus", F.softplus),
    ("torch's tanh", torch.tanh), ("torch's gelu", F.gelu), ("torch's silu", F.silu), ("torch's mish", F.mish),
    ("torch's elu", F.elu),
)  # fmt: skip
TWO: tuple[tuple[str, Run], ...] = (
    ("torch's cross_entropy", F.cross_entropy),
    ("torch's nll_loss", F.nll_loss),
    ("torch's binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits),
    ("torch's binary_cross_entropy", F.binary_cross_entropy),
    ("torch's cosine_similarity", lambda a, b: F.cosine_similarity(a, b, dim=-1)),
    ("torch's pairwise_distance", F.pairwise_distance),
    (
        "torch's softmax over what the mask keeps",
        lambda x, mask: torch.where(mask, x, -math.inf).softmax(-1).nan_to_num(0.0),
    ),
    (
        "torch's softmax over what the mask leaves",
        lambda x, mask: torch.where(mask, -math.inf, x).softmax(-1).nan_to_num(0.0),
    ),
)
ATTENTION: dict[int, tuple[tuple[str, Run], ...]] = {
    3: (("torch's scaled_dot_product_attention", F.scaled_dot_product_attention),
        ("torch's scaled_dot_product_attention, causal", lambda q, k,
            v: F.scaled_dot_product_attention(q, k, v, is_causal=True))),
    4: (("torch's scaled_dot_product_attention with the mask", lambda q, k, v,
        m: F.scaled_dot_product_attention(q, k, v, attn_mask=m)),
        ("torch's scaled_dot_product_attention with the mask turned round", lambda q, k, v,
            m: F.scaled_dot_product_attention(q, k, v, attn_mask=~m))),
}  # fmt: skip
