"""Does every group of parameters have a learning rate?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.idle_group import IdleGroup
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GroupIdle(Check, frozen=True):
    """A group of freshly drawn weights has a learning rate of 0 from the first update to the last.

    What it catches
        `{"params": weights, "lr": 0.0}` where `"weight_decay": 0.0` was meant.
    Why it matters
        The layers stay random features; what is left learns on them, and the loss falls a little.
    How it decides
        When the run is over, after `updates` updates at least: the rate of the group was exactly 0 in every update
        while another group has one, its parameters have gradients, and a large matrix of it still has, to the bit, the
        values that a new layer is drawn with. A pretrained part that is held fixed by its rate does not look like that,
        and a group that is given a rate later is left alone.
    What to do
        Give the group a rate, or take `"lr"` out of it.
    Example
        step 199, rank 0: group 0 of AdamW (train.py:11), 78 % of what it holds, had a learning rate of 0 in all 200
        updates, and 0.weight has the values of a new layer; expected the rate of the other groups, 0.001, or weights
        that were loaded. Take "lr" out of the group.
    """

    needs: ClassVar[tuple[type[IdleGroup]]] = (IdleGroup,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "lr_zero"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        'take "lr" out of the group, so that it has the rate of the optimizer; "weight_decay": 0.0 is another setting',
        "where it is to stay fixed: requires_grad_(False), and load its weights",
    )
    proved_by: ClassVar[str] = "optimizer/barge_groups"

    updates: int = 50  # of a run that has to say something (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a group."""
        for fact in window.new(IdleGroup):
            if fact.updates < self.updates:
                continue
            yield self.finding(
                window,
                "warning",
                f"group {fact.group} of {fact.kind}{spot(fact.frame)}, {fact.share:.0%} of what it holds, had a "
                f"learning rate of 0 in all {fact.updates} updates, and {fact.param} has the values of a new layer; "
                f"expected the rate of the other groups, {as_float(fact.rate):.3g}, or weights that were loaded. Take "
                '"lr" out of the group.',
                ref=fact.ref,
                place=Place(frame=fact.frame, param=fact.param, module=fact.param.rpartition(".")[0]),
                updates=fact.updates,
                share=fact.share,
            )
