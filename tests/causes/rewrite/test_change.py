"""A remedy as a change of the user's file."""

from __future__ import annotations

import linecache

import msgspec

from debugtracer.causes.cause import causes
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.rewrite.change import proposed, source_of
from debugtracer.testing import TRAIN, a_birth, a_tensor, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.verdict import Change


def test_the_first_edit_that_fits_is_the_change_and_the_op_of_birth_says_where():
    code = "return torch.where(z > 0, torch.log(z), 0.0)"
    frame = Frame(TRAIN, 47, "forward", code)
    seen = IncidentEvidence(some_facts(a_birth("aten::log", a_tensor(0.0), direction="backward", code=code)))
    change = causes()["backward-nan-op"].change(seen, frame)
    after = ("return torch.where(z > 0, torch.log(torch.where(z > 0, z, 1)), 0.0)",)
    assert change == Change(file=TRAIN, line=47, before=code, after=after, edit="safe-branch")
    assert causes()["data-nonfinite"].change(seen, frame) is None


def test_an_inner_op_is_meant_when_the_outer_one_is_not_on_the_line():
    seen = IncidentEvidence(some_facts(a_birth("aten::entropy", a_tensor(0.0), inner_op="aten::log")))
    change = proposed(("clamp-argument",), seen, Frame(TRAIN, 3, "", "h = p.log()"), 1e-5)
    assert change is not None and change.after == ("h = p.clamp_min(1e-05).log()",)


def test_a_divisor_that_counts_is_told_by_its_dtype():
    seen = IncidentEvidence(some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, dtype="int64"), kind="0/0")))
    change = causes()["zero-division"].change(seen, Frame(TRAIN, 3, "", "m = s / kept.sum(1)"))
    assert change is not None and change.after == ("m = s / kept.sum(1).clamp_min(1)",)


def test_the_optimizer_is_found_in_the_file_if_it_is_still_what_ran(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("for x in loader:\n    model(x).backward()\n    opt.step()\n")
    frame = Frame(str(file), 2, "", "model(x).backward()")
    change = proposed(("zero-grad",), FindingEvidence(()), frame)
    assert change is not None and change.after == ("opt.zero_grad()", "model(x).backward()")
    linecache.checkcache()
    assert source_of(Frame(str(file), 2, "", "loss.backward()")) == ""
    assert proposed(("zero-grad",), FindingEvidence(()), Frame(str(file), 2, "", "loss.backward()")) is None


def test_an_edit_that_a_finding_speaks_against_is_not_proposed(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("opt = torch.optim.SGD(model.parameters(), lr=0.1)\nloss.backward()\nopt.step()\n")
    frame = Frame(str(file), 2, "", "loss.backward()")
    told = Finding(
        check="optimizer/zero-grad-missing",
        layer="optimizer",
        severity="error",
        iteration=0,
        step=0,
        message="",
        evidence={"accumulated": 3.0},
    )
    single = msgspec.structs.replace(told, evidence={"accumulated": 0.0})
    assert proposed(("zero-grad",), FindingEvidence((told,)), frame) is None
    assert proposed(("zero-grad",), FindingEvidence((single,)), frame) is not None


def test_a_line_of_an_installed_package_is_never_changed():
    seen = IncidentEvidence(some_facts(a_birth("aten::log", a_tensor(0.0))))
    line = Frame("/env/lib/python3.11/site-packages/angles/loss.py", 3, "", "h = p.log()")
    assert proposed(("clamp-argument",), seen, Frame(TRAIN, 3, "", "h = p.log()"), 1e-5) is not None
    assert proposed(("clamp-argument",), seen, line, 1e-5) is None
