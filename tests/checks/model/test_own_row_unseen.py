"""Rows of a graph that do not see their own input."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.own_row_unseen import OwnRowUnseen
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.facts_at import judged, line, ref


def trial(**fields: object) -> FunctionTest:
    given = {
        "trial": "own_row", "changed": True, "position": 7, "length": 8, "common": 360, "module": "exchange",
        "frame": line(22), "made": (line(35),), **fields,
    }  # fmt: skip
    return FunctionTest(ref=ref(0), root="Orchard", **given)


def test_rows_that_reach_others_alone_are_told_at_the_line_that_links_them():
    (finding,) = judged(OwnRowUnseen(), [trial()])
    assert finding.message == (
        "step 0, rank 0: of 8 rows of the input of Orchard that were changed one at a time, 7 reach others through "
        "exchange and not themselves (train.py:22); what links them is made at train.py:35, and nothing leads around "
        "it; expected that a row sees its own input. Add the self-loops."
    )
    assert (finding.severity, finding.kind) == ("warning", "input_ignored")
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.module) == (line(35), line(22), "exchange")


def test_without_lines_it_is_told_at_the_call():
    (finding,) = judged(OwnRowUnseen(), [trial(module=None, made=())])
    assert "7 reach others and not themselves (train.py:22), and nothing" in finding.message
    assert finding.place.frame == line(22)


@pytest.mark.parametrize("fields", [{"position": 4}, {"changed": False}, {"trial": "other_positions"}])
def test_other_trials_and_few_rows_are_silent(fields):
    assert judged(OwnRowUnseen(), [trial(**fields)]) == []
