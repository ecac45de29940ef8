"""The table of the seed audit."""

from __future__ import annotations

import pytest

from debugtracer.errors import TraceError
from debugtracer.testing import AT, TRAIN, a_trace
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import to_plain
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.seeds import render_seeds


def test_one_row_a_generator_with_its_risk(tmp_path):
    rows = (
        SeedRow(source="torch", seeded=True, value=7, frame=Frame(file=TRAIN, line=12), calls=1),
        SeedRow(source="numpy", seeded=False, risk="never seeded"),
    )
    fact = Seeds(ref=StepRef(iteration=0, step=0), rows=rows, shared=("train.crop", "train.flip"))
    text = render_seeds(open_trace(a_trace(tmp_path, Observed(at=AT, word=fact.word(), fact=to_plain(fact)))))
    assert text.splitlines()[0] == "Seeds of rank 0"
    assert text.splitlines()[1].split() == ["generator", "seeded", "seed", "where", "times", "seeded", "risk"]
    assert text.splitlines()[2].split() == ["torch", "yes", "7", f"{TRAIN}:12", "1", "none"]
    assert text.splitlines()[3].endswith("never seeded")
    assert text.endswith("  one generator is shared by train.crop, train.flip\n")


def test_without_an_audit_it_is_one_sentence(tmp_path):
    run = a_trace(tmp_path)
    with pytest.raises(TraceError, match="no seed audit was taken"):
        render_seeds(open_trace(run))
