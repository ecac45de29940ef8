"""Lines that are guesses."""

from __future__ import annotations

import msgspec

from debugtracer.diagnosis.guessed_line import as_guess
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.birth import Frame


def test_a_guessed_line_is_likely_at_most_and_says_so():
    birth = a_birth("aten::log", a_tensor(0.0), kind="domain")
    facts = msgspec.structs.replace(some_facts(birth), made=(Frame("filter.py", 64),), made_guessed=True)
    sure = msgspec.structs.replace(rank(facts), status="confirmed", confidence=0.97, file="filter.py", line=64)
    told = as_guess(facts, sure)
    assert (told.status, told.line) == ("likely", 64) and told.confidence < 0.97
    assert told.evidence[-1] == "numpy warned of filter.py:64; that its value is this one is not shown"
    assert as_guess(msgspec.structs.replace(facts, made_guessed=False), sure) == sure
    elsewhere = msgspec.structs.replace(sure, line=3)
    assert as_guess(facts, elsewhere) == elsewhere


def test_a_line_where_a_value_of_no_loader_showed_is_likely_at_most():
    birth = msgspec.structs.replace(
        a_birth("aten::addmm", a_tensor(0.0)), kind="input", input_name="input 0 of the model"
    )
    facts = some_facts(birth)
    said = {"kind": "data_nonfinite", "status": "confirmed", "file": "a/train.py", "line": 22}
    sure = msgspec.structs.replace(rank(facts), **said, summary="step 20: it is bad; edit train.py:22")
    told = as_guess(facts, sure)
    assert (told.status, told.line, told.summary) == ("likely", 22, "step 20: it is bad; it showed at train.py:22")
    assert told.evidence[-1] == "the value showed at train.py:22; the line that made it was not found"
    found = msgspec.structs.replace(facts, made=(Frame("a/train.py", 11),))
    of_loader = msgspec.structs.replace(facts, birth=msgspec.structs.replace(birth, input_name="batch[0]"))
    assert as_guess(found, sure) == sure and as_guess(of_loader, sure) == sure
    assert as_guess(facts, msgspec.structs.replace(sure, kind="zero_division")).status == "confirmed"
