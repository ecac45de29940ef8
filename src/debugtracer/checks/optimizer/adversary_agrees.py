"""Does a generator work against the network that judges it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.score_gradient import ScoreGradient
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLEAR = 0.9  # of the gradients at the scores, one way (ours): a game pushes all of them


class AdversaryAgrees(Check, frozen=True):
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

    needs: ClassVar[tuple[type[ScoreGradient]]] = (ScoreGradient,)
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
        for fact in window.new(ScoreGradient):
            critic, generator, told = memory.get(fact.key(), ([], [], False))
            (critic if fact.by_critic else generator).append(fact)
            told_now = not told and min(len(critic), len(generator)) >= self.updates and agree(critic, generator)
            memory[fact.key()] = critic, generator, told or told_now
            if told_now:
                yield self.describe(window, critic[0], generator[0])

    def describe(self, window: Window, critic: ScoreGradient, generator: ScoreGradient) -> Finding:
        """Build the finding at the loss of the generator."""
        word, rest = ("raises", "lowers") if critic.generated_raised > CLEAR else ("lowers", "raises")
        shares = [
            100 * (f.generated_raised if word == "raises" else 1 - f.generated_raised) for f in (generator, critic)
        ]
        asked = f" that line {generator.called.line} asks for" if generator.called else ""
        maker, other = (f"{fact.kind}{spot(fact.built)}" for fact in (generator, critic))
        line = generator.backward.line if generator.backward else "?"
        return self.finding(
            window,
            "warning",
            f"{maker} {word} {shares[0]:.0f} % of the scores{asked} of what it made, as the critic of {other} does "
            f"({shares[1]:.0f} %), which {rest} those of the rest, in {self.updates} updates of each; expected the "
            f"other way. Give the loss of line {line} the other sign, or the target of real samples.",
            ref=generator.ref,
            place=Place(frame=generator.called or generator.backward, symptom_frame=generator.backward),
            share=shares[0],
        )


def agree(critic: list[ScoreGradient], generator: list[ScoreGradient]) -> bool:
    """Whether the critic tells apart in each of its updates, and the other one pushes the same way in each of its
    own."""
    if any(f.real_raised is None for f in critic):
        return False
    down = all(f.generated_raised < 1 - CLEAR and (f.real_raised or 0.0) > CLEAR for f in critic)
    up = all(f.generated_raised > CLEAR and (f.real_raised or 0.0) < 1 - CLEAR for f in critic)
    return (down and all(f.generated_raised < 1 - CLEAR for f in generator)) or (
        up and all(f.generated_raised > CLEAR for f in generator)
    )
