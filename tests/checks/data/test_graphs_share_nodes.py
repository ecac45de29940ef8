"""Has each graph of a batch nodes of its own?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.graphs_share_nodes import GraphsShareNodes
from debugtracer.trace.facts.graph_batch import GraphBatch
from tests.checks.facts_at import judged, line, ref


def fact(looks=2, nodes=386, largest=16, made=(59,), step=1):
    return GraphBatch(
        ref=ref(step), root="GIN", nodes=nodes, graphs=32, largest=largest, edges=412, highest=largest - 1, looks=looks,
        frame=line(60), made=tuple(line(n) for n in made),
    )  # fmt: skip


def test_edges_among_the_first_nodes_are_told_once_with_the_line_that_made_them():
    (finding,) = judged(GraphsShareNodes(), [fact(1), fact(2), fact(3, step=2)])
    assert (finding.severity, finding.kind) == ("warning", "graphs_share_nodes")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(59), line(60))
    assert finding.message == (
        "step 1, rank 0: the 412 edges of a batch of 32 graphs that GIN is given (train.py:60) reach up to node 15 of "
        "386, made at train.py:59; the largest graph has 16 nodes; expected edges in each graph. Add to the edges of "
        "each the number of nodes before it."
    )


def test_without_the_lines_of_the_edges_it_is_the_loader_s():
    (finding,) = judged(GraphsShareNodes(), [fact(made=())])
    assert finding.place.frame == line(60)


@pytest.mark.parametrize("seen", [fact(0), fact(1), fact(2, nodes=20, largest=16)])
def test_one_batch_edges_that_reach_further_and_one_large_graph_are_silent(seen):
    assert judged(GraphsShareNodes(), [seen]) == []
