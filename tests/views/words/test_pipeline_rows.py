"""The rows that show how a sample was followed."""

from __future__ import annotations

from debugtracer.trace.birth import Frame, TensorFacts
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.views.words.pipeline_rows import rows

BORN = PipelineBirth(
    index=3,
    kind="log",
    frame=Frame("/x/train.py", 2),
    way=(Frame("/x/train.py", 2), Frame("/x/train.py", 9)),
    expression="np.log(x)",
    inputs=(TensorFacts(name="x", shape=(2,), dtype="float64", low=0.0, high=1.0, values=(0.0,)),),
    output=TensorFacts(shape=(2,), dtype="float64", neginf=1),
    file="/data/a.npy",
)


def test_a_good_batch_has_no_rows():
    assert rows(None) == []


def test_what_the_line_was_given_and_gave():
    assert [(label, text) for label, text, _ in rows(BORN)[1:]] == [
        ("in", "x float64 [2]: finite 0 .. 1; there: 0"),
        ("out", "np.log(x) float64 [2]: 1 of 2 -inf"),
        ("lines", "train.py:2 -> train.py:9"),
        ("file", "/data/a.npy"),
    ]


def test_a_refusal_is_one_row():
    assert len(rows(PipelineBirth(index=3, kind="unknown", refused="it writes a file"))) == 1
