"""Does the gradient reach the first layers?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.weights_swept import SWEPT, WeightsSwept
from debugtracer.checks.snapshots import is_matrix, pull, still_learning, taken
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

LEAST = 1e-6  # gradient by weight of a last layer that still learns (ours)
SQUASHES = frozenset({"sigmoid", "tanh", "softsign"})  # their derivative is at most a quarter, or 1 at a single point


class VanishingGradient(Check, frozen=True):
    """The gradient dies out on its way to the first layers.

    What it catches
        Deep stacks of squashing functions, weights that are too small, missing normalisation or residual connections.
    Why it matters
        The last layers learn on random features of the first; the loss falls a little and stops.
    How it decides
        norm(gradient)/norm(weight) of the weight matrices in order of the model: the first is below `first_to_last` of
        the last, it falls from layer to layer, and the last still has a gradient. It must be so in three snapshots
        after the first update (an adapter or a head that starts at zero gives no gradient at step 0), with at least
        `layers` matrices (tables of embeddings and those that began at 0 left out), and while the loss has not fallen
        to a tenth. Where the first 32 updates have multiplied the norm of all weights by 3, the learning rate is named
        as the cause.
    What to do
        Add normalisation or residual connections, use ReLU or GELU with He initialisation.
    Example
        step 100, rank 0: the gradient of layers.0.weight is 3.1e-09 of its weight and that of layers.9.weight 0.012,
        4e+06 times more, falling layer by layer through 10 matrices; expected within a factor of 1e+04.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "vanishing_gradients"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "add a normalisation layer or a residual connection to each block",
        "replace sigmoid or tanh by ReLU or GELU, and initialise with torch.nn.init.kaiming_normal_",
    )
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "model/deep_sigmoid"

    # ratio; a healthy deep network without normalisation reaches 3e-3 (ours; 1e-3 with `--preset seed`)
    first_to_last: float = 1e-4
    layers: int = 4  # weight matrices; fewer show no trend (ours)
    snapshots: int = 2  # snapshots after the first update in which it must hold (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one warning at the snapshot that completes the proof."""
        zero: set[str] = window.memory(self).setdefault("zero", set())
        zero.update(p.name for fact in window.new(Health) for p in fact.params if not as_float(p.weight_l2))
        facts = taken(window, after=1)[-self.snapshots :]
        if not window.new(Health) or len(facts) < self.snapshots or not still_learning(window):
            return
        profiles = [self.profile(fact, zero) for fact in facts]
        self.measure(window, profiles)
        if not all(self.dies(profile) for profile in profiles):
            return
        profile = profiles[-1]
        (first, low), (last, high) = profile[0], profile[-1]
        times = monitor(window).swept
        rate, place = times >= SWEPT, Place(param=first, module=first.rpartition(".")[0])
        frame = lines(window).frame if rate else self.squashed_at(facts[-1])
        yield self.finding(
            window,
            "warning",
            f"the gradient of {first} is {low:.2g} of its weight and that of {last} {high:.2g}, "
            f"{high / max(low, 1e-45):.0e} times more, falling layer by layer through {len(profile)} matrices; "
            f"expected within a factor of {1 / self.first_to_last:.0e}. "
            + (
                f"The first updates multiplied the norm of all weights by {times:.3g}: lower the learning rate."
                if rate
                else "Add normalisation or residual connections."
            ),
            ref=facts[0].ref,
            place=msgspec.structs.replace(place, frame=frame),
            kind="lr_too_high" if rate else None,
            remedies=WeightsSwept.remedies if rate else (),
            first=low,
            last=high,
        )

    def measure(self, window: Window, profiles: list[list[tuple[str, float]]]) -> None:
        """Note how much of the gradient comes through in each of the snapshots."""
        pulls = [[pulled for _, pulled in profile] for profile in profiles]
        if all(len(one) >= self.layers and one[-1] >= LEAST for one in pulls):
            what = "gradient by weight in the first layer, by that in the last"
            self.measured(window, what, max(one[0] / one[-1] for one in pulls), self.first_to_last, below=True)

    def profile(self, fact: Health, zero: set[str]) -> list[tuple[str, float]]:
        """Return (name, norm(g)/norm(w)) of matrices in model order; no tables (few rows are met), none that began at
        0."""
        tables = {
            f"{name}.weight" for name, row in fact.of("activation").items() if row.function.startswith("Embedding")
        }
        matrices = {name for name, row in fact.of("weight").items() if is_matrix(row)} - tables - zero
        return [(p.name, pulled) for p in fact.params if p.name in matrices and (pulled := pull(p)) is not None]

    def squashed_at(self, fact: Health) -> Frame | None:
        """The line of the functions that flatten the gradient, if the model calls one; of a layer that is such a
        function the line that chooses it."""
        rows = fact.of("activation")
        found = [row for row in rows.values() if row.function.lower() in SQUASHES and row.frame is not None]
        inside = {f"{row.name}:{row.function.lower()}" for row in found}
        return next((row.frame for row in found if row.name not in inside), None)

    def dies(self, profile: list[tuple[str, float]]) -> bool:
        """True when gradients are small at the front, alive at the back and mostly rising in between."""
        pulls = [pulled for _, pulled in profile]
        if len(pulls) < self.layers or pulls[-1] < LEAST or pulls[0] > self.first_to_last * pulls[-1]:
            return False
        return sum(b > a for a, b in pairwise(pulls)) >= 0.7 * (len(pulls) - 1)
