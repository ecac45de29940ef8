"""Does memory stay at its level?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.memory import Memory
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window


class MemoryGrowth(Check, frozen=True):
    """Memory grows with the steps.

    What it catches
        Results, outputs or graphs that are collected, a cache without end, fragmentation by varying lengths.
    Why it matters
        The run dies hours later, at a line that has nothing to do with it.
    How it decides
        The samples after the first 100 steps: the median slope (Theil-Sen) above 0.1 % of the accelerator's
        memory per 100 steps, or 1 % of the process's, with a rank test (Kendall) at p < 0.01, and half of that
        in each third of the samples: one jump is no growth. Samples before the batches and snapshots that we
        keep for replays ourselves are nearly all there are left out. It is a note, for variable lengths grow
        too; a graph that is held is named by logging/held-graph.
    What to do
        Store numbers instead of tensors; see what grows with torch.cuda.memory._record_memory_history() or tracemalloc.
    Example
        step 600, rank 0: the process holds 2.1 % more memory (11 MB) per 100 steps, 0.61 GB now; expected a level after
        the first 100 steps. Look for what is stored in each step.
    """

    needs: ClassVar[tuple[type[Memory]]] = (Memory,)
    remedies: ClassVar[tuple[str, ...]] = (
        "store numbers: .item(), .detach().cpu()",
        "empty lists and caches at the end of each epoch",
    )
    proved_by: ClassVar[str] = "device/kept_outputs"

    warmup: int = 100  # steps left out at the start (ours)
    filled: float = 0.95  # of the bytes that we keep: below it they still grow (ours)
    least: int = 20  # samples (ours)
    every: int = 100  # steps between two judgements: all pairs of samples are compared (ours)
    share: float = 0.001  # of the accelerator's memory per 100 steps (ours)
    # of the process's memory per 100 steps (ours: the interpreter itself moves by some tenths of a percent)
    host_share: float = 0.01
    z: float = 2.58  # of the rank test: p < 0.01
    steady: float = 0.5  # of that slope, in each third of the samples (ours: one jump leaves two of them level)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per kind of memory."""
        samples = [fact for fact in window.seen(Memory) if fact.ref.step >= self.warmup]
        full = self.filled * samples[-1].kept if samples else 0.0
        samples = [fact for fact in samples if fact.kept >= full]
        if len(samples) < self.least or samples[-1].ref.step % self.every:
            return
        last = samples[-1]
        kinds = (
            ("the accelerator", [fact.allocated or 0 for fact in samples], self.share * (last.total or 0)),
            ("the process", [fact.resident for fact in samples], self.host_share * last.resident),
        )
        for name, values, least in kinds:
            slope = 100 * theil_sen([fact.ref.step for fact in samples], values)
            parts = [theil_sen(*part) for part in thirds([fact.ref.step for fact in samples], values)]
            steady = 100 * min(parts) > self.steady * least
            if least > 0:
                self.measured(window, "bytes more per 100 steps", slope, least)
            if (
                least > 0
                and slope > least
                and steady
                and kendall(values) > self.z
                and not window.memory(self).get(name)
            ):
                window.memory(self)[name] = True
                yield self.finding(
                    window,
                    "note",
                    f"{name} holds {100 * slope / max(values[-1], 1):.2g} % more memory ({slope / 1e6:.3g} MB) per 100 "
                    f"steps, {values[-1] / 1e9:.3g} GB now; "
                    f"expected a level after the first {self.warmup} steps. Look for what is stored in each step.",
                    bytes_per_100_steps=slope,
                    bytes=values[-1],
                )


def thirds(x: list[int], y: list[int]) -> list[tuple[list[int], list[int]]]:
    """Return three parts of the points, in order."""
    cuts = [0, len(x) // 3, 2 * len(x) // 3, len(x)]
    return [(x[a:b], y[a:b]) for a, b in pairwise(cuts)]


def theil_sen(x: list[int], y: list[int]) -> float:
    """The median of the slopes of all pairs of points."""
    return median([(y[j] - y[i]) / (x[j] - x[i]) for i, j in combinations(range(len(x)), 2) if x[j] != x[i]] or [0.0])


def kendall(values: list[int]) -> float:
    """The standard score of Kendall's rank test for a rise."""
    n = len(values)
    score = sum((b > a) - (b < a) for a, b in combinations(values, 2))
    return float(score / (n * (n - 1) * (2 * n + 5) / 18) ** 0.5)
