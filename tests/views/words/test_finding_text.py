"""The sentences of a verdict that comes from a finding, word for word."""

from __future__ import annotations

import msgspec

from debugtracer.testing import AT, TRAIN, a_trace
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Found
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.place import Place
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.markdown import Markdown
from debugtracer.views.terminal import Terminal
from debugtracer.views.words import finding_text

FINDING = Finding(
    check="optimizer/missing-params",
    layer="optimizer",
    severity="error",
    iteration=0,
    step=0,
    message=(
        "step 0, rank 0: fc.weight receives gradients and no optimizer holds it; expected each trainable parameter in "
        "one group."
    ),
    kind="optimizer_params_mismatch",
    exact=True,
    place=Place(
        param="fc.weight",
        module="fc",
        frame=Frame(file=TRAIN, line=42, function="run", code="optimizer = Adam(model.parameters())"),
        symptom_frame=Frame(file=TRAIN, line=50, function="run", code="loss.backward()"),
        sample_index=(3, 4),
    ),
    remedy=("build the optimizer after the last change to the model",),
)


def test_the_rows_say_what_where_and_which_sample():
    verdict = lead([FINDING])
    assert finding_text.title(verdict) == "debug-tracer: optimizer params mismatch (confirmed) at step 0"
    assert [(label, text) for label, text, _ in finding_text.rows(verdict, [FINDING])] == [
        (
            "what",
            "fc.weight receives gradients and no optimizer holds it; expected each trainable parameter in one group.",
        ),
        ("", "optimizer_params_mismatch, confirmed (confidence 0.97), found by optimizer/missing-params"),
        ("where", f"{TRAIN}:42 in run"),
        ("", "    optimizer = Adam(model.parameters())"),
        ("", f"it showed at {TRAIN}:50  loss.backward()"),
        ("", "module fc, parameter fc.weight"),
        ("sample", "dataset index 3, 4"),
    ]


def test_the_terminal_and_the_markdown_lead_with_it(tmp_path):
    trace = open_trace(a_trace(tmp_path, Found(at=AT, finding=FINDING), exit_code=0, stopped=False))
    text = Terminal().render(trace)
    assert text.startswith("debug-tracer: optimizer params mismatch (confirmed) at step 0\n")
    assert "What to do\n  1.  build the optimizer after the last change to the model\n" in text
    assert "debug-tracer checks optimizer/missing-params" in text
    assert "no verdict" not in text
    assert Markdown().render(trace).startswith("# debug-tracer: optimizer params mismatch (confirmed) at step 0\n")


def test_the_place_is_the_line_of_the_verdict():
    read, kept, said = Frame("a.py", 25), Frame("a.py", 17), Frame("a.py", 65)
    finding = msgspec.structs.replace(FINDING, place=Place(frame=said))
    born = PipelineBirth(index=1, kind="stored", frame=read, way=(kept,), value=9.0)
    verdict = lead([finding])
    for line, meant in ((17, kept), (25, read), (65, said), (3, read)):
        told = msgspec.structs.replace(verdict, pipeline=born, file="a.py", line=line)
        assert finding_text.place(told, finding) == meant
    unknown = msgspec.structs.replace(born, value=None)
    assert finding_text.place(msgspec.structs.replace(verdict, pipeline=unknown), finding) == said
    assert finding_text.place(verdict, msgspec.structs.replace(FINDING, place=Place())) is None
