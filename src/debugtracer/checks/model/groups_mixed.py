"""Are rows averaged with those of their own class?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.mixed_groups import MixedGroups
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GroupsMixed(Check, frozen=True):
    """Rows of a batch are averaged in groups that mix its classes, while groups along the other axis are of one class.

    What it catches
        Prototypes of a few-shot task taken as `support.reshape(shots, ways, -1).mean(0)` of rows that come class by
        class; a sampler of episodes that hands out class by class (`torch.stack(rows).reshape(-1)` without `.t()`)
        where the loop expects shot by shot.
    Why it matters
        Each prototype is a mean of all classes. Every size is right, and the loss stays where guessing is.
    How it decides
        In `looks` inspected steps the rows of a batch are followed through a network to a view that takes them apart
        along two axes, and a mean or sum over one of the two, which is all that is made of that view. The labels of
        these rows, which stand in the batch or in a list of its dataset, differ within half of the groups that are
        averaged or more. And either they are the same within each group of the other axis, or the batch is of as many
        classes as there are groups, with as many rows of each. Nothing else that the batch says of the rows is the same
        within the groups that are averaged. Where the targets of the loss tell the other rows of the batch apart as
        their labels do, the view is the line to edit; else it is the sampler.
    What to do
        Take rows that lie class by class apart as `view(ways, shots, -1).mean(1)`, or have the sampler hand them out
        as the loop expects: `torch.stack(rows).t().reshape(-1)`.
    Example
        step 1, rank 0: mean over dimension 0 of rows taken apart as (2, 5) (train.py:17) puts together rows of the
        classes 17, 3 (batch[1]) in a batch of 5 classes with 7 rows each, in 2 looks; expected groups of one class.
        CategoriesSampler.__iter__ (sampler.py:12) hands the rows out class by class, and the targets of the loss expect
        them otherwise: `torch.stack(rows).t().reshape(-1)`.
    """

    needs: ClassVar[tuple[type[MixedGroups]]] = (MixedGroups,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "rows that lie class by class: view(ways, shots, -1).mean(1)",
        "rows that lie shot by shot, where the loop expects them so: torch.stack(rows).t().reshape(-1) in the sampler",
    )
    proved_by: ClassVar[str] = "model/fern_fronds"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(MixedGroups):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] == self.looks:
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: MixedGroups) -> Finding:
        """Build the finding at the line that has them in the order which nothing else expects."""
        by_sampler = fact.drawn is not None and not fact.asked
        said = f"{fact.sampler}.__iter__ ({file_line(fact.drawn)})" if fact.drawn is not None else "The sampler"
        if by_sampler or not (fact.asked or fact.turned):
            todo = (
                f"{said} hands the rows out in another order than the targets of the loss and this line expect; class "
                "by class becomes shot by shot with `torch.stack(rows).t().reshape(-1)`."
            )
        elif fact.turned:
            todo = f"Fold dimension {1 - fact.dim}."
        else:
            todo = f"Take them apart as {fact.sizes[::-1]} and fold dimension {1 - fact.dim}."
        where = f" ({fact.path})" if fact.path else ""
        beside = (
            f"while those along dimension {1 - fact.dim} are of one class"
            if fact.turned
            else f"in a batch of {fact.sizes[1 - fact.dim]} classes with as many rows of each"
        )
        return self.finding(
            window,
            "warning",
            f"{fact.function} over dimension {fact.dim} of rows taken apart as {fact.sizes}{spot(fact.frame)} puts "
            f"together rows of the classes {', '.join(map(str, fact.labels))}{where}, {beside}, in {self.looks} looks; "
            f"expected groups of one class. {todo}",
            ref=fact.ref,
            place=Place(
                frame=fact.drawn if by_sampler else fact.frame,
                symptom_frame=fact.frame if by_sampler else fact.reader_frame,
            ),
        )
