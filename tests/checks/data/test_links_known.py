"""Links of an evaluation that the model is given."""

from __future__ import annotations

from debugtracer.checks.data.links_known import LinksKnown
from tests.checks.facts_at import judged, line
from tests.trace.facts.test_known_links import links


def test_links_that_the_model_is_given_are_told_at_the_line_that_made_the_graph():
    (finding,) = judged(LinksKnown(), [links()])
    assert finding.message == (
        "step 2, rank 0: 61 of 61 links that the evaluation scores (train.py:26), none of them scored in training, are "
        "among the 405 connections that the model is given (train.py:33), made at train.py:10; expected none. Build "
        "the graph from the edges of training."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "label_leak", line(10))
    assert finding.place.symptom_frame == line(26)


def test_without_a_made_line_the_call_is_named():
    (finding,) = judged(LinksKnown(), [links(made=())])
    assert finding.place.frame == line(33)


def test_it_fires_from_its_thresholds_on():
    assert len(judged(LinksKnown(), [links(pairs=40, known=16)])) == 1
    assert judged(LinksKnown(), [links(pairs=30, known=15)]) == []
    assert judged(LinksKnown(), [links(pairs=100, known=39)]) == []
