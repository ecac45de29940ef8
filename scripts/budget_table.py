"""The budget table of README.md: what a step costs watched, what we allow ourselves, and what peers cost, from the
newest kept results of `benchmarks/steps.py`, `benchmarks/inspected.py` and `benchmarks/start.py`."""

from __future__ import annotations

from typing import Any

from kept import Kept
from row_tables import row_of
from stamp import measured

LOOPS = (
    "timed mlp 0.3 ms", "timed mlp 2 ms", "timed transformer 2 ms", "cnn 10 ms", "transformer 10 ms",
    "timed transformer 10 ms", "transformer 100 ms",
)  # fmt: skip
# up to so many milliseconds of a bare step -> allowed at rest and with all at work: budgets that this project has set
BUDGETS = ((1.0, 1.25, 1.6), (6.0, 1.08, 1.15), (60.0, 1.03, None), (float("inf"), 1.01, None))
RESTING, WORKING, DEFAULT = "watched, at rest", "watched, cost 1", "watched"
PEERS = {
    "set_detect_anomaly": "anomaly mode",
    "DebugUnderflowOverflow": "HF DebugUnderflowOverflow",
    "wandb.watch": "wandb.watch",
    "torchlens.trace": "TorchLens",
}
HEAD = ["step of", "at rest (allowed)", "first seconds", "`--cost 1` (allowed)", *PEERS.values()]
FIRST, LATER, START_S, MEMORY_MB = 1.5, 1.3, 0.5, 60.0  # allowed, as above


def budget(steps: Kept, inspected: Kept, start: Kept) -> str:
    """The table and the lines below it."""
    commit, found = list(steps.values["results"].items())[-1]
    rows = found["rows"]
    lines = [row_of(HEAD), "|---" * len(HEAD) + "|"]
    lines += [row_of(cells(name, rows[name])) for name in LOOPS if name in rows]
    when = measured({(found["date"], commit)})
    return "\n".join(
        [*lines, "", f"{found['machine']}, {when}, `python benchmarks/steps.py`. {others(inspected, start)}"]
    )


def cells(name: str, row: dict[str, Any]) -> list[str]:
    """One loop: times of a bare step; in bold what is over its budget."""
    step_ms = row["bare"]["ms"]
    _, rest, work = next(budget for budget in BUDGETS if step_ms <= budget[0])
    kind = name.removeprefix("timed ").rpartition(" ")[0].rpartition(" ")[0]
    said = [f"{kind}, {step_ms:.3g} ms", beside(row, RESTING, rest), times(row, DEFAULT)]
    return [*said, beside(row, WORKING, work), *(times(row, peer) for peer in PEERS)]


def times(row: dict[str, Any], word: str) -> str:
    """`1.16`, or a dash where it was not measured."""
    return f"{row[word]['ratio']:.2f}" if word in row else "-"


def beside(row: dict[str, Any], word: str, allowed: float | None) -> str:
    """`1.16 (1.25)`; in bold where it is more than that."""
    return times(row, word) if allowed is None or word not in row else over(row[word]["ratio"], allowed, ".2f")


def over(value: float, allowed: float, form: str) -> str:
    """A figure with what is allowed; in bold where it is more, with as many digits more as show it."""
    shown = f"{value:{form}}"
    if value <= allowed:
        return f"{shown} ({allowed:g})"
    digits = int(form[1:-1])
    while float(shown) <= allowed:
        digits += 1
        shown = f"{value:.{digits}f}"
    return f"**{shown}** ({allowed:g})"


def others(inspected: Kept, start: Kept) -> str:
    """Close looks, start and memory beside what is allowed."""
    seen, begun = inspected.values, start.values
    first = over(max(seen["first_beside_first_bare"]), FIRST, ".2f")
    return (
        f"The first three steps take up to {first} times a first bare one, later close looks "
        f"{over(seen['inspected'], LATER, '.2f')}; the start {over(begun['start_cpu_s'], START_S, '.2f')} s and "
        f"{over(begun['end_mb'], MEMORY_MB, '.0f')} MB. Bold: over the budget; why, and what the floor is: "
        "[what it costs](docs/cost.md)."
    )
