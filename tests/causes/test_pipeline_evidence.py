"""Which cause a line of the data pipeline speaks for, and the change of that line."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from debugtracer.causes.cause import causes
from debugtracer.causes.pipeline_evidence import SURE, UNSURE, changed, of_pipeline
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.trace.birth import Birth, Frame, TensorFacts
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.pipeline_birth import PipelineBirth, PipelineKind
from debugtracer.trace.place import Place
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


LOG = causes()["log-domain"]


def test_a_line_is_an_invariant_where_one_fetch_alone_makes_the_value_and_it_is_understood():
    def evidence(cause, **more):
        found = of_pipeline(cause, facts(**more))
        return found.confidence, found.exact, found.seen

    assert evidence(LOG, kind="log", fetches=1) == (SURE, True, True)
    assert evidence(LOG, kind="log", fetches=2) == (SURE, False, True)
    unknown = next(cause for cause in causes().values() if "unknown" in cause.pipeline_kinds)
    assert evidence(unknown, kind="unknown", fetches=1) == (UNSURE, False, True)


def test_a_line_speaks_for_its_own_cause_and_only_where_it_is_known_with_its_expression():
    assert of_pipeline(LOG, facts(kind="log")).place == Place(frame=AT)
    for missing in ({"kind": "spread"}, {"frame": None}, {"refused": "x"}, {"expression": ""}):
        assert of_pipeline(LOG, facts(**{"kind": "log", **missing})) is None
    assert of_pipeline(LOG, msgspec.structs.replace(facts(), pipeline=None)) is None


def test_without_a_guard_or_a_line_there_is_no_change():
    born = facts(guard="x = 1").pipeline
    assert changed(born, "/x/train.py", 12) is not None
    assert changed(born, "/x/other.py", 12) is None
    assert changed(None, "/x/train.py", 12) is None
    assert changed(None, None, None) is None
    assert changed(facts(guard="x = 1", frame=None).pipeline, None, None) is None
    assert changed(facts(guard="").pipeline, "/x/train.py", 12) is None
