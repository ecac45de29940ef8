"""Does one of several like matrices move far more than the others?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.update_ratio import judgeable
from debugtracer.checks.snapshots import is_matrix, ratio, taken
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

GROWN = 3.0  # times its norm at the first look: a weight that began near zero and still finds its size (ours)


@dataclass(frozen=True)
class Group:
    """The siblings of one snapshot and the one that moves most."""

    worst: str
    times: float
    ratio: float
    count: int


class SiblingImbalance(Check, frozen=True):
    """One matrix moves, relative to its size, more than ten times as much as its siblings.

    What it catches
        One of several like matrices (the same matrix of all blocks; query, key and value of one attention) that is much
        smaller than the others.
    Why it matters
        WeSaR (2024) saw the relative update of small-norm matrices far above that of their siblings tens of steps
        before loss spikes.
    How it decides
        norm(update)/norm(weight) per unit of learning rate (layer-wise rates are no fault) on inspected steps, for
        optimizers with a second moment: above `times` the median of at least `least` siblings of one shape, in the last
        `snapshots` snapshots, from step `first` on. Biases, gains, frozen weights and weights that began near zero
        (LoRA) are left out. A note.
    What to do
        Initialise the matrices of all blocks alike; reparametrise (WeSaR) or warm up for longer.
    Example
        step 300, rank 0: the step changes blocks.2.up.weight by 0.041 times its norm, 22 times as much as the median of
        its 6 siblings (AdamW, lr 0.001); expected below 10 times. A loss spike may follow in tens of steps: initialise
        it like them.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = ("initialise the matrices of all blocks alike", "warm up for longer")
    family: ClassVar[str] = "update"
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    proved_by: ClassVar[str] = "optimizer/shrunken_block"

    times: float = 10.0  # of the median of the siblings (WeSaR 2024: such a ratio comes before spikes)
    least: int = 3  # siblings, itself among them (ours)
    snapshots: int = 2  # in a row (ours)
    first: int = 100  # steps left out at the start (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The group with the largest imbalance, each matrix once."""
        everything = taken(window)
        facts = [fact for fact in everything if fact.ref.step >= self.first][-self.snapshots :]
        if not window.new(Health) or len(facts) < self.snapshots:
            return
        begun = {name: as_float(row.l2) for fact in reversed(everything) for name, row in fact.of("weight").items()}
        looks = [{g.worst: g for g in self.groups(fact, begun)} for fact in facts]
        steady = [g for name, g in looks[-1].items() if all(name in look for look in looks)]
        worst = max(steady, key=lambda g: g.times, default=None)
        if worst is not None and worst.worst not in window.memory(self):
            window.memory(self)[worst.worst] = True
            yield self.describe(window, facts, worst)

    def groups(self, fact: Health, begun: dict[str, float]) -> Iterator[Group]:
        """Yield the families of like matrices in which one stands out."""
        shapes = {name: row.shape for name, row in fact.of("weight").items() if is_matrix(row)}
        rows = [
            p
            for p in fact.params
            if p.name in shapes and p.log_v is not None and judgeable(p) and as_float(p.lr) > 0 and grown(p, begun)
        ]
        families: dict[object, list[ParamDynamics]] = {}
        for row in rows:
            for family in families_of(row.name):
                families.setdefault((family, shapes[row.name], row.optimizer), []).append(row)
        for siblings in families.values():
            yield from self.standing_out(siblings)

    def standing_out(self, siblings: Sequence[ParamDynamics]) -> Iterator[Group]:
        """The one with the largest ratio beside the median of all."""
        if len(siblings) < self.least:
            return
        worst = max(siblings, key=pace)
        usual, most = median(map(pace, siblings)), pace(worst)
        if usual > 0 and most > self.times * usual:
            yield Group(worst.name, most / usual, ratio(worst) or 0.0, len(siblings))

    def describe(self, window: Window, facts: Sequence[Health], group: Group) -> Finding:
        """Which one, beside how many."""
        row = next(p for p in facts[-1].params if p.name == group.worst)
        return self.finding(
            window,
            "note",
            f"the step changes {row.name} by {group.ratio:.2g} times its norm, {group.times:.2g} times as much as the "
            f"median of its {group.count} siblings "
            f"({row.optimizer}, lr {as_float(row.lr):.3g}); expected below {self.times:g} times. "
            "A loss spike may follow in tens of steps: initialise it like them.",
            ref=facts[0].ref,
            place=Place(param=row.name, module=row.name.rpartition(".")[0]),
            ratio=group.ratio,
            times=group.times,
        )


def pace(update: ParamDynamics) -> float:
    """The relative change per unit of learning rate."""
    return (ratio(update) or 0.0) / as_float(update.lr)


def grown(update: ParamDynamics, begun: dict[str, float]) -> bool:
    """True when the weight is about as large as in the first snapshot."""
    return as_float(update.weight_l2) < GROWN * begun.get(update.name, 0.0)


def families_of(name: str) -> Iterator[tuple[str, str]]:
    """The same matrix of all blocks; the matrices of one attention."""
    blocks = re.sub(r"\d+", "*", name)
    if blocks != name:
        yield "blocks", blocks
    module, _, last = name.rpartition(".")
    around, _, own = module.rpartition(".")
    readback = re.fullmatch(r"(?:w_?|to_)?([qkv])(?:_?proj|_?lin|uery|ey|alue)?", own.lower())
    if readback:
        yield "attention", f"{around}.{last}"
