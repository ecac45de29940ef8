"""Do squashing functions work where they have a slope?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.layer_gain import layers_of
from debugtracer.checks.snapshots import filled_at, taken
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

FIRST = 3  # the snapshots of the first steps


class SaturatedActivation(Check, frozen=True):
    """A tanh or sigmoid starts in its flat part.

    What it catches
        Weights that are initialised too large, inputs that are not normalised: the function answers +-1 (or 0 and 1)
        for nearly everything.
    Why it matters
        There the derivative is nearly zero, so nothing before it learns.
    How it decides
        Share of values beyond +-0.99 (tanh) or outside 0.01..0.99 (sigmoid) above `saturated` in each of the first
        three steps; above `half` it is a note. Later steps are not judged: gates and confident outputs saturate by
        right. A function that is called outside the modules (a distribution, a loss) is asked only where nothing was
        seen inside one. Not where nearly all lie at one end: that is an offset, such as the bias of a focal loss's
        prior, where weights or inputs that are too large give both ends.
    What to do
        Normalise the inputs, initialise with Xavier, put a normalisation layer before it.
    Example
        step 0, rank 0: 97% of the values of act:tanh are beyond +-0.99 in the first 3 steps; expected below 80% at the
        start.
    """

    needs: ClassVar[tuple[type[Health]]] = (Health,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "normalise the inputs to mean 0 and standard deviation 1",
        "initialise with torch.nn.init.xavier_uniform_, or put nn.LayerNorm before the function",
    )
    family: ClassVar[str] = "activation"
    suspects: ClassVar[tuple[str, ...]] = ("logit-saturation",)
    proved_by: ClassVar[str] = "model/large_init_tanh"

    # share of values of a layer (smdebug says 50 %; 80 % leaves room for sharp but working layers: ours)
    saturated: float = 0.8
    # times by which a layer multiplies (ours; He's initialisation is 1.4, Xavier's with torch's tanh gain 1.7)
    gain: float = 4.0
    half: float = 0.5  # share of values for a note (smdebug SaturatedActivation)
    one_end: float = 0.97  # of the values at the same end (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """The worst layer, once, when the first steps are over."""
        facts = [fact for fact in taken(window) if fact.ref.step < FIRST]
        if len(facts) < FIRST or not window.new(Health) or window.new(Health)[-1] is not facts[-1]:
            return
        rows = facts[-1].of("activation")
        inside = any(not row.outside for row in rows.values())
        shares = {
            name: min(saturation(fact, name) for fact in facts)
            for name, row in rows.items()
            if not self.is_offset(row) and not (inside and row.outside)
        }
        worst = max(shares, key=lambda name: shares[name], default=None)
        if worst is not None:
            self.measured(window, "share of saturated values in a layer", shares[worst], self.half)
        if worst is None or shares[worst] <= self.half:
            return
        row, loud = rows[worst], shares[worst] > self.saturated
        where = "beyond +-0.99" if row.function == "tanh" else "outside 0.01..0.99"
        wide = max(layers_of(facts[0]), key=lambda layer: layer.gain, default=None)
        wide = wide if wide is not None and wide.gain > self.gain else None
        advice = (
            f"The weights of {wide.name} multiply by {wide.gain:.2g}: initialise them"
            if wide
            else "Normalise the inputs or initialise the weights"
        )
        yield self.finding(
            window,
            "warning" if loud else "note",
            f"{shares[worst]:.0%} of the values of {named(worst, row)} are {where} in the first {FIRST} steps; "
            f"expected below {self.saturated if loud else self.half:.0%} at the start. {advice} smaller.",
            ref=facts[0].ref,
            place=Place(
                module=worst.split(":")[0] if ":" in worst else None,
                frame=(filled_at(window, f"{wide.name}.weight") if wide else None) or row.frame,
                symptom_frame=row.frame,
                op=f"aten::{row.function}",
            ),
            saturated_share=shares[worst],
        )

    def is_offset(self, row: TensorHealth) -> bool:
        """Whether nearly all values of a tanh or sigmoid lie at the same end."""
        mean, least = float(row.mean), -1.0 if row.function == "tanh" else 0.0
        place = (mean - least) / (1.0 - least)
        return not 1.0 - self.one_end < place < self.one_end


def saturation(fact: Health, name: str) -> float:
    """The share of flat values of a tanh or sigmoid of at least 64 values; 0 for others."""
    row = fact.of("activation").get(name)
    return (
        row.saturated
        if row is not None and row.saturated is not None and row.function in ("tanh", "sigmoid") and row.sampled >= 64
        else 0.0
    )


def named(name: str, row: TensorHealth) -> str:
    """The row's name, with its file where it is named by its line."""
    return f"{row.function} ({file_line(row.frame)})" if row.outside and row.frame else name
