"""Is a meta-learner judged by other rows than those that it adapts to?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.inner_update import InnerUpdate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class QueryUnread(Check, frozen=True):
    """The outer loss of a meta-learner takes the rows that its inner loss took, and those made for it are read by
    nobody.

    What it catches
        `loss(adapted, support)` for `loss(adapted, query)` in MAML and its kin.
    Why it matters
        What is learnt is to fit the rows that were adapted to, not others of the same task: the loss looks better than
        it is.
    How it decides
        In an inspected step `torch.autograd.grad(..., create_graph=True)` was asked for gradients of the optimizer's
        weights, of what one of torch's losses gave, and weights were made with them. All losses of those that the
        backward leads to have a target of an inner loss, and two other tensors of as many rows, one of the same kind as
        the target, were there before and are read by nothing up to the backward. Seen in `looks` steps. Where there are
        no other rows (Reptile, one set of rows on purpose), or they are part of the loss, nothing is said.
    What to do
        Compute the outer loss with the query rows.
    Example
        step 2, rank 0: 4 of 4 outer losses (meta.py:33) take the targets that the inner loss took, in 2 steps looked
        at, and the tensor made for them (meta.py:28) is read by nothing; expected the loss of other rows than those
        adapted to. Give it the query set.
    """

    needs: ClassVar[tuple[type[InnerUpdate]]] = (InnerUpdate,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "compute the outer loss with the query set: other rows than those of the inner loss",
        "where one set of rows is meant, do not make the other one",
    )
    proved_by: ClassVar[str] = "model/island_tides"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell each line once, when it has been seen often enough."""
        memory = window.memory(self)
        for fact in window.new(InnerUpdate):
            seen = memory.get(fact.outer_frame, 0)
            wrong = fact.same == fact.outer and fact.unread > 0
            memory[fact.outer_frame] = seen + 1 if wrong else seen
            if not wrong or memory[fact.outer_frame] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.same} of {fact.outer} outer losses{spot(fact.outer_frame)} take the targets that the inner "
                f"loss took, in {counted(self.looks, 'step')} looked at, and the tensor made for them"
                f"{spot(fact.unread_frame)} is read by nothing; expected the loss of other rows than those adapted to. "
                "Give it the query set.",
                ref=fact.ref,
                place=Place(frame=fact.outer_frame, symptom_frame=fact.frame),
                misplaced=1.0,
            )
