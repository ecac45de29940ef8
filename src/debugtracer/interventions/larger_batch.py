"""A batch of twice the rows: this one and that of the last healthy step together; and the gradient-noise scale that the
two sizes give."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class LargerBatch(Intervention):
    """If that heals, one batch is too noisy a sample of the data. A tape whose calls name the batch size cannot take
    other rows and is refused."""

    scope: ClassVar[Scope] = "batch"
    cost: ClassVar[float] = 2.0

    def refuses(self, rerun: Rerun) -> str:
        """Every input with rows needs a counterpart of the same kind."""
        if not rerun.batch:
            return "no input of the step has the rows of a batch"
        for leaf in rerun.batch:
            other = rerun.healthy.get(id(leaf))
            if other is None:
                return "not every input of the step has a counterpart in the last healthy step"
            if other.shape[1:] != leaf.tensor.shape[1:] or other.dtype != leaf.tensor.dtype:
                return "the batch of the last healthy step has another shape"
        return ""

    def apply(self, rerun: Rerun) -> str:
        """Concatenate along the rows."""
        for leaf in rerun.batch:
            rerun.inputs[id(leaf)] = torch.cat([rerun.value(leaf), rerun.healthy[id(leaf)]])
        rows = rerun.rows or len(rerun.batch[0].tensor)
        both = rows + len(rerun.healthy[id(rerun.batch[0])])
        seen: list[float] = []

        def measure(gradients: list[Tensor]) -> None:
            seen.append(math.sqrt(sum(float(torch.linalg.vector_norm(g.double())) ** 2 for g in gradients)))

        rerun.on_gradients.append(measure)
        what = f"{both} rows: this batch and that of the last healthy step"
        rerun.described = lambda: f"{what}; {noise_words(rerun.grad_l2_usual, rows, seen[0], both)}" if seen else what
        return what


def noise_words(small: float | None, rows: int, large: float, both: int) -> str:
    """The gradient-noise scale in words: the batch size, rows, at which noise and signal of the gradient are equal."""
    scale = noise_scale(small, rows, large, both) if small is not None else None
    if scale is None:
        return "the gradient-noise scale cannot be told from gradients of two sizes of batch"
    return f"gradient-noise scale about {scale:.2g} rows (one estimate; noisy)"


def noise_scale(small: float, rows: int, large: float, both: int) -> float | None:
    """Compute tr(Sigma) / |G|^2 from gradient norms of `rows` and `both` rows (McCandlish et al. 2018, A); None if not
    > 0."""
    signal = (both * large**2 - rows * small**2) / (both - rows)
    noise = (small**2 - large**2) / (1 / rows - 1 / both)
    return noise / signal if signal > 0 and noise > 0 and math.isfinite(noise / signal) else None
