"""Links that an evaluation scores and the model is given."""

from __future__ import annotations

from debugtracer.trace.facts.known_links import KnownLinks
from tests.checks.facts_at import line, ref


def links(**more):
    given = {
        "nodes": 200, "edges": 405, "pairs": 61, "known": 61, "frame": line(26), "called": line(33),
        "made": (line(10),),
    }  # fmt: skip
    return KnownLinks(ref=ref(2), **(given | more))


def test_a_line_of_evaluation_and_one_that_calls_the_model_identify_it():
    assert links().key() == links(known=3).key()
    assert links().key() != links(frame=line(27)).key()
