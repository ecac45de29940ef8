"""Are the links that an evaluation asks for unknown to the model?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.known_links import KnownLinks
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LinksKnown(Check, frozen=True):
    """An evaluation scores links that the model sends messages over, and that training does not score.

    What it catches
        Link prediction with all edges as `edge_index` or adjacency, those of the test included; edges that are split
        with both directions in them, one in the graph, the other in the test.
    Why it matters
        Two nodes that exchange messages become alike: the answer is part of the input. The score is that of links which
        are known, and falls with the first new one.
    How it decides
        Without gradients, after an inspected step, rows of what a model says of its nodes are taken twice and joined: a
        pair each. At least `share` of the pairs, and `least`, are connections that the model is given, in either
        direction, and no pairs that training scores. Only where a quarter of the pairs that training scores come again
        in the next step (which links of batches are left out is not known), and the graph holds nearly all of these.
    What to do
        Split the edges first, and build the graph of messages from those of training alone.
    Example
        step 2, rank 0: 61 of 61 links that the evaluation scores (train.py:26), none of them scored in training, are
        among the 405 connections that the model is given (train.py:33), made at train.py:10; expected none. Build the
        graph from the edges of training.
    """

    needs: ClassVar[tuple[type[KnownLinks]]] = (KnownLinks,)
    kind: ClassVar[str] = "label_leak"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "build edge_index or the adjacency from the edges of training alone",
        "PyG: transforms.RandomLinkSplit; its train_data.edge_index holds no edge of validation and test",
        "split undirected edges once (i < j), and add the other direction after the split",
    )
    proved_by: ClassVar[str] = "data/bat_roosts"

    share: float = 0.4  # of the pairs (ours: a half where as many that are no links are scored with them)
    least: int = 16  # pairs (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a run."""
        for fact in window.new(KnownLinks):
            if fact.known < max(self.least, self.share * fact.pairs):
                continue
            made = f"{made_at(fact.made)}" if fact.made else ""
            yield self.finding(
                window,
                "warning",
                f"{fact.known} of {fact.pairs} links that the evaluation scores{spot(fact.frame)}, none of them scored "
                f"in training, are among the {fact.edges} connections that the model is given{spot(fact.called)}{made};"
                " expected none. Build the graph from the edges of training.",
                ref=fact.ref,
                place=Place(frame=fact.made[0] if fact.made else fact.called, symptom_frame=fact.frame),
                known=float(fact.known),
                pairs=float(fact.pairs),
            )
