"""A number in all rows of the data: the line that sets it leads, no row is at fault."""

from __future__ import annotations

import msgspec

from debugtracer.causes.cause import Evidence
from debugtracer.causes.setting_evidence import of_setting
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.batch_setting import BatchSetting
from debugtracer.trace.birth import Frame

SET = Frame("/a/reach.py", 25, "describe", "self.roughness = 0.0")
SETTING = BatchSetting(name="batch[0]", column=4, value=0.0, rows=32, stored="Reaches.rows", stored_rows=960, frame=SET)
BIRTH = a_birth(
    "aten::div",
    a_tensor(1.0),
    msgspec.structs.replace(a_tensor(0.0), name="batch[0]"),
    output=msgspec.structs.replace(a_tensor(), posinf=32),
    rows=tuple(range(32)),
)
FACTS = some_facts(BIRTH, batch_rows=tuple(range(32)), sample_index=tuple(range(32)))


def test_the_line_of_the_setting_leads_and_no_sample_is_named():
    verdict = rank(msgspec.structs.replace(FACTS, setting=SETTING))
    assert (verdict.kind, verdict.line, verdict.status) == ("zero_division", 25, "confirmed")
    assert verdict.batch_rows is None and verdict.sample_index is None
    assert "column 4 of batch[0] is 0 in all 960 rows of Reaches.rows: a setting" in verdict.summary
    assert verdict.remedy[0].startswith("set the number that is meant at reach.py:25 (`self.roughness = 0.0`)")


def test_without_its_line_the_place_of_birth_stays():
    verdict = rank(msgspec.structs.replace(FACTS, setting=msgspec.structs.replace(SETTING, frame=None)))
    assert BIRTH.frame is not None and verdict.line == BIRTH.frame.line
    assert "column 4 of batch[0]" in verdict.remedy[0]


def test_without_a_setting_and_for_another_class_nothing_changes():
    plain = rank(FACTS)
    assert plain.sample_index == tuple(range(32)) and "a setting" not in plain.summary
    other = Evidence(confidence=0.9, because="x", remedies=("y",))
    assert of_setting("exp_overflow", msgspec.structs.replace(FACTS, setting=SETTING), other) is other
    assert of_setting("zero_division", msgspec.structs.replace(FACTS, setting=SETTING), None) is None
