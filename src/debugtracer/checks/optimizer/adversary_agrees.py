"""Does a generator work against the network that judges it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.score_push import ScorePush
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLEAR = 0.9  # of the gradients at the scores, one way (ours): a game pushes all of them


@dataclass(frozen=True)
class AdversaryAgrees(Check):
    """A generator is trained to be told apart: the sign of its loss, or its target, is that of its critic.

    What it catches
        Wasserstein or hinge losses without the minus, `zeros` where a generator asks for `ones`: critic and generator
        push the scores of generated samples the same way.
    Why it matters
        Both losses fall nicely together; the samples become worse than noise.
    How it decides
        Where two optimizers live, the gradients at the scores of one network are looked at. It is a critic where one
        backward pushes the scores of what the other network made down and those of everything else up, or the other way
        round. The finding: in `updates` updates of each, the generator pushes the scores of what it made the same way
        as the critic. Networks that are not trained to tell apart have no such backward.
    What to do
        Give the loss of the generator the other sign, or the target of real samples.
    Example
        step 4, rank 0: Adam (gan.py:20) lowers 100 % of the scores that line 44 asks for of what it made, as the critic
        of Adam (gan.py:21) does (100 %), which raises those of the rest, in 2 updates of each; expected the other way.
        Give the loss of line 45 the other sign, or the target of real samples.
    """

    needs: ClassVar[tuple[type[ScorePush]]] = (ScorePush,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give the loss of the generator the other sign: -critic(made).mean()",
        "or, with a cross-entropy or a squared error, the target of real samples: torch.ones",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "optimizer/agreeable_glazes"

    updates: int = 2
    """Updates of each of the two (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per pair."""
        memory = window.memory(self)
        for fact in window.new(ScorePush):
            critic, maker, told = memory.get(fact.key(), ([], [], False))
            (critic if fact.by_judge else maker).append(fact)
            told_now = not told and min(len(critic), len(maker)) >= self.updates and agree(critic, maker)
            memory[fact.key()] = critic, maker, told or told_now
            if told_now:
                yield self.describe(window, critic[0], maker[0])

    def describe(self, window: Window, critic: ScorePush, maker: ScorePush) -> Finding:
        """Build the finding at the loss of the generator."""
        word, rest = ("raises", "lowers") if critic.made_up > CLEAR else ("lowers", "raises")
        shares = [100 * (f.made_up if word == "raises" else 1 - f.made_up) for f in (maker, critic)]
        asked = f" that line {maker.called.line} asks for" if maker.called else ""
        line = maker.backward.line if maker.backward else "?"
        return self.finding(
            window,
            "warning",
            f"{maker.kind}{spot(maker.built)} {word} {shares[0]:.0f} % of the scores{asked} of what it made, as the "
            f"critic of {critic.kind}{spot(critic.built)} does ({shares[1]:.0f} %), which {rest} those of the rest, in "
            f"{self.updates} updates of each; expected the other way. Give the loss of line {line} the other sign, or "
            "the target of real samples.",
            ref=maker.ref,
            place=Place(frame=maker.called or maker.backward, symptom_frame=maker.backward),
            share=shares[0],
        )


def agree(critic: list[ScorePush], maker: list[ScorePush]) -> bool:
    """Whether the critic tells apart in each of its updates, and the other one pushes the same way in each of its
    own."""
    if any(f.given_up is None for f in critic):
        return False
    down = all(f.made_up < 1 - CLEAR and (f.given_up or 0.0) > CLEAR for f in critic)
    up = all(f.made_up > CLEAR and (f.given_up or 0.0) < 1 - CLEAR for f in critic)
    return (down and all(f.made_up < 1 - CLEAR for f in maker)) or (up and all(f.made_up > CLEAR for f in maker))
