"""Does each row of a graph see its own input?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OwnRowUnseen(Check, frozen=True):
    """Rows that are linked hand what they know to each other, and none keeps its own.

    What it catches
        A graph network whose adjacency has no self-loops (no `+ eye`, an attention mask without its diagonal) and that
        has no other way for a node to see itself.
    Why it matters
        What says most about a node is its own input. The network learns from its neighbours alone, and looks like one
        with a hard task.
    How it decides
        On a copy in evaluation mode, with the whole batch: all rows of an input that a square matrix or pairs of places
        link are made alike, and one of them another, eight times. The first modules that hand it on change the outputs
        of other rows, and not that of the row itself, in `rows` of the eight or more. With the outputs of these modules
        held, nothing of the whole output changes: no residual, no concatenation, no second weight for the row itself
        leads around them. A model that is to give its input back (a blind spot), in another unit too, may not look at
        it and is left alone.
    What to do
        Add the identity to the adjacency before it is normalised, or a term for the row itself.
    Example
        step 0, rank 0: of 8 rows of the input of GAT that were changed one at a time, 7 reach others through
        out_att and not themselves (layers.py:31; what links them is made at utils.py:57), and nothing leads around it;
        expected that a row sees its own input. Add the self-loops.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "add the self-loops before the adjacency is normalised: adj = adj + torch.eye(len(adj))",
        "or give a row a term of its own: h = aggregate(neighbours) + own(x)",
    )
    proved_by: ClassVar[str] = "model/orchard_rows"

    rows: int = 5
    """Of the eight (ours: a row without links may be given the mean of all)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "own_row" and fact.changed and (fact.position or 0) >= self.rows:
                made = made_at(fact.made).replace(", made", "; what links them is made")
                through = f"through {fact.module} " if fact.module else ""
                yield self.finding(
                    window,
                    "warning",
                    f"of {fact.length} rows of the input of {fact.root} that were changed one at a time, "
                    f"{fact.position} reach others {through}and not themselves{spot(fact.frame)}{made}, and nothing "
                    "leads around it; expected that a row sees its own input. Add the self-loops.",
                    ref=fact.ref,
                    place=Place(
                        module=fact.module, frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame
                    ),
                    rows=fact.position or 0,
                )
