"""The sentences of a birth in the data pipeline, word for word."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from debugtracer.trace.birth import Frame, TensorFacts
from debugtracer.trace.pipeline_birth import PipelineBirth, PipelineKind
from debugtracer.views.words import pipeline_text

AT = Frame("/home/me/train.py", 12, "standardise", "return centred / spread")


def born(**changes: Any) -> PipelineBirth:
    plain: dict[str, Any] = {"index": 211, "kind": "spread", "frame": AT, "record_clean": True}
    return PipelineBirth(**(plain | {"expression": "centred / spread", "divisor": "patch.std()"} | changes))


def test_what_the_line_did():
    assert pipeline_text.because(born()) == (
        "`centred / spread` divides by a spread that is 0 (`patch.std()`) where sample 211 is made, before the model "
        "sees it (its stored record is finite)"
    )


@pytest.mark.parametrize(("value", "words"), [(0.0, "of 0 (-inf)"), (-2.0, "of a negative number (NaN)")])
def test_which_logarithm(value: float, words: str):
    given = (TensorFacts(name="x", values=(value,)),)
    text = pipeline_text.because(born(kind="log", expression="np.log(x)", inputs=given))
    assert text.startswith(f"`np.log(x)` takes the logarithm {words} where sample 211 is made")


def test_a_stored_value_and_a_written_one():
    assert pipeline_text.stored(born(kind="stored", expression="float(cell)")) == (
        ", and the stored record of sample 211 holds them: `float(cell)` reads them"
    )
    assert pipeline_text.stored(born(kind="written", expression="np.nan")) == (
        ", and `np.nan` writes them there for sample 211"
    )


@pytest.mark.parametrize("kind", [k for k in get_args(PipelineKind) if k not in ("stored", "written", "range")])
def test_every_kind_has_a_sentence_and_a_remedy(kind: Any):
    assert kind in pipeline_text.DID or kind == "log"
    first, look, _ = pipeline_text.remedies(born(kind=kind, file="/data/a.npy"))
    assert first.endswith("at train.py:12")
    assert "/data/a.npy" in look


def test_how_the_sample_was_followed():
    head = "sample 211 was fetched again"
    assert pipeline_text.followed(born()) == f"{head} and followed line by line: first non-finite at train.py:12"
    assert "bad in fetch 3: it depends on random numbers" in pipeline_text.followed(born(fetches=3))
    assert "no line of the fetch makes it" in pipeline_text.followed(born(frame=None))
    assert pipeline_text.followed(born(refused="it writes a file")) == (
        "the sample was not followed through your data code: it writes a file"
    )
    assert pipeline_text.followed(born(kind="stored")).endswith("it is read so at train.py:12")


def test_a_row_out_of_range():
    far = born(kind="range", expression="x / s", value=924.1, usual=0.9965, neighbours=(4, 9))
    assert pipeline_text.out_of_range(far) == (
        "`x / s` at train.py:12 takes sample 211 out of the range of the others: to 924.1, where 2 samples of the "
        "batches before have at most 0.9965"
    )
    assert "reaches 924.1 first at train.py:12, for 2 others up to 0.9965" in pipeline_text.followed(far)
    assert "with that of sample 4" in pipeline_text.range_remedies(far)[1]
    stored = born(kind="stored", expression="self.x[i]", value=924.1, usual=0.9965, neighbours=(4, 9))
    assert pipeline_text.out_of_range(stored).startswith(
        "the stored record of sample 211 is out of range already: `self.x[i]` at train.py:12 reads 924.1"
    )
    kept = born(kind="stored", expression="self.x[i]", value=924.1, usual=0.9965, way=(Frame("/home/me/data.py", 3),))
    assert "is out of range already, kept at data.py:3: `self.x[i]` at train.py:12" in pipeline_text.out_of_range(kept)
    assert "its stored record reaches 924.1" in pipeline_text.followed(stored)


def test_the_lines_to_the_batch():
    assert pipeline_text.way(born(way=(AT, Frame("/home/me/train.py", 27)))) == "train.py:12 -> train.py:27"
