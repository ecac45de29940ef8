"""Columns of ids in one table, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.field_ids import FieldIds
from debugtracer.trace.step import StepRef

FIELDS = FieldIds(
    ref=StepRef(iteration=63, step=63), root="Factors", table="linear", size=149, fields=(12, 40, 90, 7), least=0,
    rows=4096, frame=None,
)  # fmt: skip


def test_it_survives_json():
    assert from_plain(FIELDS.word(), msgspec.json.decode(msgspec.json.encode(to_plain(FIELDS)))) == FIELDS


def test_each_table_is_news():
    assert FIELDS.key() == msgspec.structs.replace(FIELDS, rows=1).key()
    assert FIELDS.key() != msgspec.structs.replace(FIELDS, table="factors").key()
