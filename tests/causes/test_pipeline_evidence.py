"""Which cause a line of the data pipeline speaks for, and the change of that line."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from debugtracer.causes.cause import causes
from debugtracer.causes.pipeline_evidence import changed, of_pipeline
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.trace.birth import Birth, Frame, TensorFacts
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.pipeline_birth import PipelineBirth, PipelineKind
from debugtracer.trace.step import StepRef

AT = Frame("/x/train.py", 12, "standardise", "return centred / spread")


def facts(**changes: Any) -> IncidentFacts:
    """A NaN that was in the batch."""
    born = PipelineBirth(**({"index": 7, "kind": "spread", "frame": AT, "expression": "centred / spread"} | changes))
    birth = Birth(op=None, direction="input", kind="input", input_name="batch[0]", output=TensorFacts(nan=3), rows=(1,))
    ref = StepRef(iteration=3, step=3, microbatch=0, rank=0, phase="loss")
    return IncidentFacts(ref=ref, symptom="nan_loss", birth=birth, pipeline=born)


@pytest.mark.parametrize("kind", [k for k in get_args(PipelineKind) if k not in ("stored", "written", "range")])
def test_every_kind_has_one_cause(kind: PipelineKind):
    assert len([c for c in causes().values() if kind in c.pipeline_kinds]) == 1


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("spread", "normalisation_zero_std"),
        ("division", "zero_division"),
        ("log", "log_domain"),
        ("half", "fp16_overflow"),
        ("stored", "data_nonfinite"),
        ("written", "data_nonfinite"),
    ],
)
def test_the_class_is_the_births(kind: Any, word: str):
    verdict = rank(facts(kind=kind))
    assert (verdict.kind, verdict.line, verdict.status) == (word, 12, "confirmed")
    assert verdict.pipeline is not None


def test_what_is_not_understood_is_no_proof():
    verdict = rank(facts(kind="unknown"))
    assert (verdict.kind, verdict.status) == ("function_domain", "possible")


def test_a_stored_value_is_mended_where_the_store_is_filled():
    known = facts(kind="stored", expression="self.rows[i]")
    filled = Frame("/x/train.py", 5, "__init__", "self.rows = np.genfromtxt(path)")
    verdict = rank(msgspec.structs.replace(known, made=(filled, AT)))
    assert (verdict.kind, verdict.line) == ("data_nonfinite", 5)
    assert "`self.rows[i]` reads them, made at train.py:5 -> train.py:12" in verdict.summary


def test_a_line_whose_expression_is_not_known_leaves_the_class_to_the_batch():
    verdict = rank(facts(kind="unknown", expression=""))
    assert (verdict.kind, verdict.line) == ("data_nonfinite", 12)
    assert "before the model sees it, first at train.py:12" in verdict.summary


def test_a_sample_that_was_not_followed_leaves_the_class_to_the_batch():
    assert rank(facts(kind="unknown", frame=None, refused="it writes a file")).kind == "data_nonfinite"
    assert of_pipeline(causes()["log-domain"], facts(kind="log", refused="x")) is None


def test_the_change_is_of_the_line_of_the_verdict_alone():
    born = facts(guard="return centred / np.maximum(spread, 1e-6)").pipeline
    found = changed(born, "/x/train.py", 12)
    assert found is not None
    assert (found.before, found.after) == (AT.code, ("return centred / np.maximum(spread, 1e-6)",))
    assert changed(born, "/x/train.py", 13) is None
