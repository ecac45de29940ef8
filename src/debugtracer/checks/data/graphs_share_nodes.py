"""Has each graph of a batch nodes of its own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_batch import GraphBatch
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GraphsShareNodes(Check, frozen=True):
    """The edges of all graphs of a batch lie among the nodes of the first.

    What it catches
        Graphs that are put one after the other into a batch while the node numbers in their edges stay as they were:
        the offset of each graph is missing in the collate function.
    Why it matters
        The first graph gets the messages of all, the others none. The loss stops near chance, or what single nodes
        tell.
    How it decides
        A model is given features of nodes, edges (2, edges) and the graph of each node (numbers that rise from 0), of
        three graphs or more. In `looks` inspected steps no edge reaches beyond as many nodes as the largest graph has,
        and these are at most `within` of the nodes.
    What to do
        Add to the edges of each graph the number of nodes of those before it.
    Example
        step 2, rank 0: the 412 edges of a batch of 32 graphs that GIN is given (train.py:60) reach up to node 15 of
        386, made at graphs.py:59; the largest graph has 16 nodes; expected edges in each graph. Add to the edges of
        each the number of nodes before it.
    """

    needs: ClassVar[tuple[type[GraphBatch]]] = (GraphBatch,)
    kind: ClassVar[str] = "graphs_share_nodes"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "add the nodes so far: edges.append(e + offset); offset += len(x)",
        "or collate with torch_geometric.data.Batch.from_data_list",
    )
    proved_by: ClassVar[str] = "data/pipe_fittings"

    looks: int = 2  # batches (ours)
    within: float = 0.6  # of the nodes (ours: of three graphs one may be as large as the others together)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each model."""
        told = window.memory(self)
        for fact in window.new(GraphBatch):
            if fact.root in told or fact.looks < self.looks or fact.largest > self.within * fact.nodes:
                continue
            told[fact.root] = True
            yield self.finding(
                window,
                "warning",
                f"the {fact.edges} edges of a batch of {fact.graphs} graphs that {fact.root} is given{spot(fact.frame)}"
                f" reach up to node {fact.highest} of {fact.nodes}{made_at(fact.made)}; the largest graph has "
                f"{fact.largest} nodes; expected edges in each graph. Add to the edges of each the number of nodes "
                "before it.",
                ref=fact.ref,
                place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                graphs=float(fact.graphs),
                reached=(fact.highest + 1) / fact.nodes,
            )
