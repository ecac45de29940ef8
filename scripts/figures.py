"""The figures of the scoreboard, as pure functions of rows: rates, time to verdict, trials, abstention, calibration,
the majority class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from marks import SURE, Row

BINS = 10


@dataclass(frozen=True)
class Rate:
    """So many of so many."""

    right: int
    of: int

    def __str__(self) -> str:
        """`8/9`; a dash where there was nothing to count."""
        return f"{self.right}/{self.of}" if self.of else "-"

    @property
    def percent(self) -> str:
        """`88.9 %`; a dash where there was nothing to count."""
        return f"{100 * self.right / self.of:.1f} %" if self.of else "-"


@dataclass(frozen=True)
class Bin:
    """Verdicts of similar confidence: how sure they were on average, and how often right."""

    low: float
    rows: int
    confidence: float
    right: float


def faulty(rows: Sequence[Row]) -> list[Row]:
    """Rows in which something is to be found."""
    return [row for row in rows if not row.is_healthy]


def marked(rows: Sequence[Row], name: str) -> Rate:
    """How often a mark is right, of those that have it."""
    return Rate(sum(row.marks[name] for row in rows if name in row.marks), sum(name in row.marks for row in rows))


def quiet(rows: Sequence[Row]) -> Rate:
    """Healthy scripts in which nothing was said."""
    return marked([row for row in rows if row.is_healthy], "quiet")


def confirmed_wrong(rows: Sequence[Row]) -> Rate:
    """Verdicts called confirmed that are not the truth: of faulty scripts, and of healthy ones, where any is wrong."""
    return Rate(
        sum(row.marks.get("wrong", False) or (row.is_healthy and row.status == "confirmed") for row in rows), len(rows)
    )


def verdicts(rows: Sequence[Row]) -> list[Row]:
    """Rows with a class: the only ones that can be right or wrong about it."""
    return [row for row in rows if row.got is not None]


def is_right(row: Row) -> bool:
    """The class of the verdict is the true one, or one as true; never where no class is."""
    return row.got is not None and row.got in {row.kind, *row.also} - {"unknown", "healthy"}


def confirmed(rows: Sequence[Row]) -> Rate:
    """Verdicts that are confirmed."""
    said = verdicts(faulty(rows))
    return Rate(sum(row.status == "confirmed" for row in said), len(said))


def tested(rows: Sequence[Row]) -> Rate:
    """Verdicts that show what the failing step did with a remedy."""
    said = verdicts(faulty(rows))
    return Rate(sum(row.tested for row in said), len(said))


def spoken(rows: Sequence[Row]) -> Rate:
    """Precision when not abstaining: right classes of the verdicts that are confirmed or likely."""
    sure = [row for row in verdicts(faulty(rows)) if row.status in SURE]
    return Rate(sum(is_right(row) for row in sure), len(sure))


def seconds(rows: Sequence[Row]) -> list[float]:
    """Times from the alarm to the verdict, where something was executed again; sorted."""
    return sorted(row.verdict_s for row in faulty(rows) if row.verdict_s > 0)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value that this share does not exceed (nearest rank) of sorted values; None of none."""
    return values[max(math.ceil(share * len(values)) - 1, 0)] if values else None


def trials(rows: Sequence[Row]) -> list[int]:
    """How many trials ran, for each verdict that had any; sorted."""
    return sorted(row.trials for row in faulty(rows) if row.trials)


def bins(rows: Sequence[Row], count: int = BINS) -> list[Bin]:
    """Verdicts by confidence in equal bins, empty ones left out; 1.0 belongs to the last. A class said of a healthy
    script is wrong."""
    parts: dict[int, list[Row]] = {}
    for row in verdicts(rows):
        parts.setdefault(min(int((row.confidence or 0.0) * count), count - 1), []).append(row)
    return [
        Bin(
            place / count,
            len(part),
            sum(row.confidence or 0.0 for row in part) / len(part),
            sum(is_right(row) for row in part) / len(part),
        )
        for place, part in sorted(parts.items())
    ]


def calibration_error(parts: Sequence[Bin]) -> float | None:
    """Expected calibration error: |confidence - share that is right| of each bin, weighted by its rows; None without a
    verdict."""
    whole = sum(part.rows for part in parts)
    return sum(part.rows * abs(part.confidence - part.right) for part in parts) / whole if whole else None


def majority(learnt: Sequence[Row]) -> list[str]:
    """The three commonest classes, which a tool that looks at nothing would name; ties by name."""
    counted = Counter(row.kind for row in faulty(learnt) if row.kind != "unknown")
    return [kind for kind, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:3]]


def guessed(rows: Sequence[Row], guesses: Sequence[str], first: int) -> Rate:
    """How often one of the first guesses is the truth, of the rows whose class counts."""
    named = [row for row in faulty(rows) if "top1" in row.marks]
    return Rate(sum(bool({row.kind, *row.also} & set(guesses[:first])) for row in named), len(named))
