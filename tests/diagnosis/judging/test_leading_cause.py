"""The leading finding as its cause hears it."""

import msgspec

from debugtracer.causes.cause import causes
from debugtracer.diagnosis.judging.leading_cause import cause_of, heard
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place

FRAME = Frame("/p/train.py", 53, "main", "loss.backward()")


def a_finding(check="optimizer/zero-grad-missing", kind="stale_gradients", **more):
    known = {
        "severity": "error",
        "exact": True,
        "confidence": 0.6,
        "place": Place(frame=FRAME),
        "message": "step 1, rank 0: never cleared",
        "remedy": ("clear",),
    }
    layer = check.partition("/")[0]
    return Finding(**{"check": check, "layer": layer, "kind": kind, "iteration": 1, "step": 1, **known, **more})


def test_no_diagnosis_no_verdict():
    assert heard([a_finding(kind=None)], []) is None
    assert heard([a_finding(severity="note")], []) is None


def test_the_cause_proposes_the_change_of_the_line(tmp_path):
    """The name of the optimizer stands elsewhere in the user's file."""
    script = tmp_path / "train.py"
    script.write_text(
        "adam = torch.optim.Adam(model.parameters())\nfor x in data:\n    loss = model(x)\n    loss.backward()\n    "
        "adam.step()\n"
    )
    check, verdict = heard([a_finding(place=Place(frame=Frame(str(script), 4, "<module>", "loss.backward()")))], [])
    assert check == "optimizer/zero-grad-missing"
    assert verdict.change is not None
    assert (verdict.change.line, verdict.change.before, verdict.change.after) == (
        4,
        "loss.backward()",
        ("adam.zero_grad()", "loss.backward()"),
    )


def test_an_exact_finding_is_not_argued_with():
    _, verdict = heard([a_finding(), a_finding("optimizer/accum-scaling", "accum", exact=False, confidence=0.5)], [])
    assert (verdict.status, verdict.confidence) == ("confirmed", 0.97)


def test_a_class_without_a_cause_keeps_its_finding():
    check, verdict = heard([a_finding("data/class-skew", "a_class_nobody_knows")], [])
    assert (check, verdict.kind) == ("data/class-skew", "a_class_nobody_knows")


def test_the_cause_is_found_by_slug_and_else_by_class():
    _, verdict = heard([a_finding()], [])
    found = cause_of(verdict)
    assert found is not None
    assert found.kind == "stale_gradients"


def test_of_causes_of_one_class_the_named_one_is_meant():
    _, verdict = heard([a_finding()], [])
    of_class: dict[str, list[str]] = {}
    for slug, cause in causes().items():
        of_class.setdefault(cause.kind, []).append(slug)
    kind, slugs = next((kind, slugs) for kind, slugs in of_class.items() if len(slugs) > 1)
    for slug in slugs:
        assert cause_of(msgspec.structs.replace(verdict, cause=slug, kind=kind)).slug == slug
    unnamed = msgspec.structs.replace(verdict, cause=None, kind=kind)
    assert cause_of(unnamed).slug == slugs[0] and cause_of(msgspec.structs.replace(unnamed, kind="x")) is None
