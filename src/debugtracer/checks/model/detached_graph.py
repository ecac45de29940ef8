"""Do the losses hang on the parameters that made them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_reach import GraphReach, SampledLatent
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class DetachedGraph(Check, frozen=True):
    """Parameters take part in the forward, but no loss hangs on them.

    What it catches
        `.detach()`, `.data`, numpy or `no_grad` in the middle of a model: all in front of it is cut off. A latent
        that is drawn by `sample()`, or by `torch.normal`, instead of `rsample()`.
    Why it matters
        These parameters never change; the rest learns on random features, so the loss looks plausible.
    How it decides
        Autograd's graph is walked from each loss when backward begins. Trainable parameters that an optimizer holds
        were arguments of the forward, lie on no path and have no gradient in `steps` updates of that optimizer. It is a
        warning when they are at least `share` of those it trains; where the call that ends the graph stands under a
        condition only at the end of the run, if they had no gradient in any look (the head may be trained first, then
        all); otherwise, or in modules in evaluation mode (frozen
        on purpose), a note. A smaller part is a warning too when the same parameters were lost in every look over at
        least `long` updates, others had gradients and these kept the values they had. Parts with requires_grad False,
        other optimizers' parts (a GAN), parts that are not called and heads whose answers are handed out beside the
        one that is learnt from do not count. A draw from a distribution that has `rsample` is told when it was seen
        in `draws` steps: it is taken without a graph, goes into a loss, and the part of the loss that it enters gives
        nothing to parameters of the optimizer that made the distribution; nobody asks for the density of the draw (a
        policy gradient), nor trains them by a density, a named loss or a draw with a graph.
    What to do
        Take away the call that ends the graph; if the part is frozen on purpose, set requires_grad_(False).
    Example
        step 0, rank 0: 4 parameters (encoder.0.weight, ...), 83 % of those that Adam trains, take part in the forward
        and no loss hangs on them: detach at line 22 ends the graph; expected a gradient. Remove the detach.
    """

    needs: ClassVar[tuple[type, ...]] = (GraphReach, SampledLatent)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "detached_graph"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "remove the call that ends the graph",
        "if the part is frozen on purpose, set requires_grad_(False) on it",
    )
    proved_by: ClassVar[str] = "model/features_cut"

    steps: int = 3
    """Updates in a row (ours: a branch may be left out once)."""
    share: float = 0.5
    """Of the values the optimizer trains (ours)."""
    draws: int = 2
    """Steps in which a draw was seen to end the graph (ours)."""
    long: int = 50
    """Updates between the first and the last look at a smaller part (ours: phases and warm-ups are shorter)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each optimizer for itself; what is a note so far waits, for it may become a warning."""
        memory = window.memory(self)
        waits = memory.setdefault("waits", {})
        drawn = memory.setdefault("drawn", {})
        for draw in window.new(SampledLatent):
            key = draw.function, draw.frame
            drawn[key] = drawn.get(key, 0) + 1
            if drawn[key] == self.draws:
                yield self.sampled(window, draw)
        for fact in window.new(GraphReach):
            if fact.lasting <= 1:
                memory[fact.number] = fact
            first = memory.get(fact.number, fact)
            if not fact.lost:
                self.begins(fact, waits)
            elif fact.lasting == self.steps and self.is_large(first) and not self.may_end(first):
                yield self.describe(window, first)
            elif fact.lasting == self.steps:
                waits[fact.number] = first
            elif fact.number in waits and not self.is_large(first) and self.never_learns(first, fact):
                del waits[fact.number]
                yield self.one_layer(window, first, fact)
        if window.ended:
            yield from (self.describe(window, fact) for fact in waits.values())
            waits.clear()

    def sampled(self, window: Window, draw: SampledLatent) -> Finding:
        """Build the finding of a draw without a derivative."""
        normal = draw.function == "torch.normal"
        seen = "whose derivative is 0" if normal else "drawn without a graph"
        rest = "; they are trained by another part of the loss alone" if draw.elsewhere else ""
        remedy = "mean + std * torch.randn_like(std)" if normal else "rsample()"
        return self.finding(
            window,
            "warning",
            f"{draw.function}{spot(draw.frame)}, {seen}, goes into a loss that gives no gradient through it to what "
            f"made the distribution: {draw.count} parameters of {draw.optimizer}, first "
            f"{next(iter(draw.lost), '?')}{rest}; expected a reparameterised draw. Write {remedy}.",
            ref=draw.ref,
            place=Place(frame=draw.frame, param=next(iter(draw.lost), None)),
            confidence=0.65,
            remedies=(f"write {remedy}", "or, if it is meant as a constant, say so: .detach()"),
            lost=float(draw.count),
        )

    def may_end(self, fact: GraphReach) -> bool:
        """Whether a condition decides that the graph ends."""
        return fact.cut is not None and fact.cut.conditional

    def begins(self, fact: GraphReach, waits: dict[int, GraphReach]) -> None:
        """Forget a large part that learns now: it was a phase."""
        first = waits.get(fact.number)
        if first is not None and self.is_large(first):
            del waits[fact.number]

    def is_large(self, fact: GraphReach) -> bool:
        """Whether most of what the optimizer trains is cut off, by a call that was seen."""
        return share_of(fact) >= self.share and fact.cut is not None and not fact.asleep

    def never_learns(self, first: GraphReach, fact: GraphReach) -> bool:
        """Whether the same parameters went without a gradient for long, while others had theirs."""
        long = fact.ref.step - first.ref.step >= self.long
        meant = fact.asleep or (fact.spare and fact.cut is None)
        return long and fact.lost == first.lost and fact.stood and fact.reached > 0 and not meant

    def one_layer(self, window: Window, first: GraphReach, fact: GraphReach) -> Finding:
        """Build the finding of a layer that never learned: where it is made, where it is used, what ends the graph."""
        cut = f", {fact.cut.function}{spot(fact.cut.frame)} ends its graph" if fact.cut is not None else ""
        module = fact.lost[0].rpartition(".")[0] or None
        return self.finding(
            window,
            "warning",
            f"{counted_names(fact.lost)}{f' made{spot(fact.made)}' if fact.made else ''} took part in every one of "
            f"{fact.lasting} inspected steps over {fact.ref.step - first.ref.step} updates, had no gradient in any and "
            f"kept the first values, while {fact.optimizer} trained others; used{spot(fact.used)}{cut}; expected a "
            "gradient in each. Let the loss depend on it, or set requires_grad_(False) if it is frozen on purpose.",
            ref=fact.ref,
            place=Place(
                param=fact.lost[0],
                module=module,
                frame=(fact.cut.frame if fact.cut is not None else None) or fact.used,
                symptom_frame=fact.symptom,
            ),
            share=share_of(fact),
            updates=float(fact.ref.step - first.ref.step),
        )

    def describe(self, window: Window, fact: GraphReach) -> Finding:
        """Which parameters, and what ends the graph."""
        share = share_of(fact)
        count = counted_names(fact.lost)
        cut = (
            f": {fact.cut.function} at line {fact.cut.frame.line} ends the graph" if fact.cut and fact.cut.frame else ""
        )
        remedy = f"Remove the {fact.cut.function}" if fact.cut else "Look for .detach(), .data or no_grad"
        return self.finding(
            window,
            "warning" if self.is_large(fact) else "note",
            f"{count}, {share:.0%} of the values that {fact.optimizer} trains, take part in the forward and no loss "
            f"hangs on them{cut}; "
            f"expected a gradient. {remedy}, or set requires_grad_(False) if they are frozen on purpose.",
            ref=fact.ref,
            place=Place(
                param=fact.lost[0],
                module=(fact.cut.module if fact.cut else None) or fact.lost[0].rpartition(".")[0] or None,
                frame=fact.cut.frame if fact.cut else None,
                symptom_frame=fact.symptom,
            ),
            share=share,
            lost=float(len(fact.lost)),
        )


def share_of(fact: GraphReach) -> float:
    """The share of the lost values in all that the optimizer trains."""
    return fact.lost_numel / max(fact.lost_numel + fact.reached, 1)


def counted_names(names: tuple[str, ...]) -> str:
    """Format names for a sentence: `2 parameters (codes.weight, ...)`."""
    return f"{len(names)} parameters ({names[0]}, ...)" if len(names) > 1 else f"parameter {names[0]}"
