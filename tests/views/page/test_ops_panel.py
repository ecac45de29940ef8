"""The op table in columns, or why there is none."""

from __future__ import annotations

from pathlib import Path

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.store.op_table import OPS, OpRow, write_ops
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.views.page.ops_panel import ops_panel

PLACE = "incidents/step-000048-rank0"


def a_run(folder: Path) -> Trace:
    facts = some_facts(a_birth("aten::log", a_tensor(0.0)))
    return open_trace(a_trace(folder, an_incident(facts, rank(facts), PLACE)))


def test_columns_have_one_length_and_name_their_words_once(tmp_path: Path) -> None:
    trace = a_run(tmp_path)
    rows = [OpRow(index=n, op="aten::log", direction="forward", producers=(n - 1,), high=float("inf")) for n in (4, 5)]
    write_ops(trace.path / PLACE, rows, seen=9, birth=5)
    panel = ops_panel(trace)
    assert (panel["birth"], panel["seen"], panel["step"]) == (5, 9, 48)
    assert [panel["words"][n] for n in panel["op"]] == ["aten::log", "aten::log"]
    assert [panel["words"][n] for n in panel["module"]] == [None, None]
    assert (panel["producers"], panel["high"]) == ([[3], [4]], ["Infinity", "Infinity"])
    assert {len(panel[name]) for name in OpRow.__struct_fields__} == {2}


def test_why_there_is_none_is_said(tmp_path: Path) -> None:
    assert ops_panel(open_trace(a_trace(tmp_path / "a"))) == {"why": "no-incident"}
    trace = a_run(tmp_path / "b")
    assert ops_panel(trace) == {"why": "not-traced"}
    (trace.path / PLACE).mkdir(parents=True)
    (trace.path / PLACE / OPS).write_bytes(b"PAR1")
    assert ops_panel(trace)["why"] == "damaged"
