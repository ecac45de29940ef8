"""Norms of each gradient and weight over some steps, which the gate reads anyway, and of what modules gave and updates
changed at some of them: written as columns, never judged."""

from __future__ import annotations

from typing import ClassVar, Literal

from debugtracer.trace.facts.fact import Fact

NormRole = Literal["gradient", "weight", "activation", "update"]


class LayerNorms(Fact, frozen=True, kw_only=True):
    """L2 norms of the tensors of one role, a row a step. It goes to a file of its own (`trace/store/norm_log.py`), not
    to events.jsonl, and no check sees it."""

    KEEP: ClassVar[int] = 1

    role: NormRole
    names: tuple[str, ...]
    """Paths of the parameters; of activations those of the leaf modules."""
    steps: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    """Of each step the norm of each tensor; NaN or infinite as they were."""
