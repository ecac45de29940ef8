"""What of an incident is written where some of it is missing or fails, and where in the table of ops it was born."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from debugtracer.diagnosis import incident_writer as module
from debugtracer.diagnosis.incident_writer import IncidentWriter, born_at, save_ops
from debugtracer.errors import CapsuleError
from debugtracer.trace.birth import Birth, Frame, TensorFacts
from debugtracer.trace.events import Acted, Incident
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Verdict

REF = StepRef(iteration=2, step=2)


class Display:
    """Keeps what is shown."""

    stopped = RuntimeError

    def __init__(self) -> None:
        self.shown = []

    def show(self, facts, verdict, run, incident):
        self.shown.append(incident)


def a_writer(folder: Path | None, stops=False):
    """A writer whose output keeps events and notes."""
    told, notes = [], []
    output = SimpleNamespace(
        folder=folder,
        rank=1,
        trace_id=lambda iteration: f"trace-{iteration}",
        event=lambda event, now=False: told.append((event, now)),
        note=lambda *said: notes.append(said),
    )
    writer = IncidentWriter(output, stops)
    writer.show_on(Display())
    return writer, told, notes


def save(monkeypatch, folder, *, fails=(), ops=True, stops=False, symptom="nan_loss", count=1):
    """The incident that is written and what is shown, where some parts cannot be saved."""

    def part(name):
        def saved(*asked):
            if name in fails:
                raise CapsuleError(name)
            made.append(name)

        return saved

    made = []
    writer, told, notes = a_writer(folder, stops)
    monkeypatch.setattr(writer, "save_program", part("capsule"))
    monkeypatch.setattr(module, "save_batch", part("batch"))
    monkeypatch.setattr(module, "save_ops", part("ops"))
    monkeypatch.setattr(module, "raced", lambda verdict, at: made.append("raced") or verdict)
    result = SimpleNamespace(ops="ops" if ops else None, bad_names=[])
    facts = IncidentFacts(ref=REF, symptom=symptom)
    verdict = Verdict(
        kind=None, cause=None, symptom=symptom, layer="numerics", iteration=2, step=2, summary="why", remedy=()
    )
    writer.save(result, facts, verdict, {}, count)
    (incident,) = [event for event, now in told if isinstance(event, Incident) and now]
    stopped = [event for event, now in told if isinstance(event, Acted) and now]
    return incident, stopped, made, writer.display.shown, [what for what, _ in notes]


def test_everything_is_written(monkeypatch, tmp_path):
    incident, stopped, made, shown, notes = save(monkeypatch, tmp_path)
    assert (incident.folder, incident.capsule) == ("incidents/step-000002-rank0", True)
    assert made == ["capsule", "raced", "batch", "ops"] and shown == [tmp_path / incident.folder]
    assert stopped == [] and notes == []


@pytest.mark.parametrize(
    ("fails", "kept"),
    [
        (("capsule",), True),
        (("capsule", "batch"), True),
        (("capsule", "ops"), True),
        (("batch", "ops"), True),
        (("capsule", "batch", "ops"), False),
    ],
)
def test_a_part_that_fails_costs_no_other(monkeypatch, tmp_path, fails, kept):
    incident, _, made, shown, notes = save(monkeypatch, tmp_path, fails=fails)
    assert (incident.folder is not None) is kept and incident.capsule is ("capsule" not in fails)
    assert ("raced" in made) is ("capsule" not in fails) and notes == ["no-capsule"] * len(fails)
    assert shown == [tmp_path / "incidents/step-000002-rank0" if "capsule" not in fails else None]


def test_no_table_of_ops_is_written_where_nothing_was_traced(monkeypatch, tmp_path):
    assert "ops" not in save(monkeypatch, tmp_path, ops=False)[2]
    nothing = save(monkeypatch, tmp_path, ops=False, fails=("capsule", "batch"))[0]
    assert nothing.folder is None and nothing.capsule is False


def test_without_a_folder_only_the_event_is_told(monkeypatch):
    incident, _, made, shown, _ = save(monkeypatch, None)
    assert (incident.folder, incident.capsule, made, shown) == (None, False, [], [])


def test_a_second_incident_of_a_step_has_a_number(monkeypatch, tmp_path):
    (tmp_path / "incidents/step-000002-rank0").mkdir(parents=True)
    assert save(monkeypatch, tmp_path, count=2)[0].folder == "incidents/step-000002-rank0-2"


@pytest.mark.parametrize(
    ("stops", "symptom", "said"), [(True, "nan_loss", True), (True, "crash", False), (False, "nan_loss", False)]
)
def test_a_stop_is_told_where_the_run_is_stopped(monkeypatch, tmp_path, stops, symptom, said):
    stopped = save(monkeypatch, tmp_path, stops=stops, symptom=symptom)[1]
    assert [(event.action, event.step, event.reason) for event in stopped] == ([("stop", 2, "why")] if said else [])


@pytest.mark.parametrize(("iteration", "last"), [(3, 2), (1, 0), (0, 0)])
def test_a_rank_that_stops_with_others_names_its_last_backward(capsys, iteration, last):
    writer, told, _ = a_writer(None)
    writer.stopped_with_others(SimpleNamespace(iteration=iteration, step=7))
    ((event, now),) = told
    assert (event.iteration, event.step, event.rank, event.trace_id, now) == (last, 7, 1, f"trace-{last}", True)
    assert capsys.readouterr().err.startswith("debug-tracer: step 7, rank 1: another rank")


def test_what_fails_while_it_is_saved_is_counted_or_noted(monkeypatch, capsys):
    def fails(error):
        def action():
            raise error

        return action

    swallowed = []
    monkeypatch.setattr(module, "swallow", lambda *told: swallowed.append(told[0]))
    writer, _, notes = a_writer(Path("/run"))
    assert writer.attempt(lambda: None) is True
    assert writer.attempt(fails(ValueError())) is False and swallowed == ["diagnosis.incident_writer"]
    assert writer.attempt(fails(CapsuleError("too large"))) is False and notes == [("no-capsule", "too large")]
    assert writer.attempt(fails(OSError(28, "no space"))) is False and "(no space)" in notes[1][1]
    assert writer.attempt(fails(OSError("gone"))) is False and "(gone)" in notes[2][1]
    assert capsys.readouterr().err.count("could not be saved in /run") == 1


def test_a_table_without_ops_is_not_written(monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr(module, "write_ops", lambda *asked: written.append(asked))
    for ops in (None, SimpleNamespace(rows=[], seen=0)):
        save_ops(tmp_path, SimpleNamespace(ops=ops, birth=None))
    assert written == []
    save_ops(tmp_path, SimpleNamespace(ops=SimpleNamespace(rows=[a_row()], seen=3), birth=None))
    assert written == [(tmp_path, [a_row()], 3, None)]


def a_row(index=4, **told):
    given = {"direction": "forward", "module": "head", "file": "a.py", "line": 3, "nan": 1, "inf": 0, "shape": (2,)}
    return SimpleNamespace(index=index, **given | told)


def a_birth(op="aten::log", output=True, frame=True, **counts):
    return Birth(
        op=op,
        direction="forward",
        kind="domain",
        module="head",
        frames=(Frame("a.py", 3),) if frame else (),
        output=TensorFacts(shape=(2,), **{"nan": 1} | counts) if output else None,
    )


def test_a_value_was_born_in_the_first_op_of_its_line_with_its_counts():
    other = a_row(1, nan=2)
    assert born_at([other, a_row(2), a_row(3)], a_birth()) == 2
    assert born_at([a_row(1, shape=(3,)), a_row(2)], a_birth()) == 2
    assert born_at([a_row(1, inf=3), a_row(2, inf=2)], a_birth(posinf=1, neginf=1)) == 2
    assert born_at([a_row(1, nan=0), other], a_birth()) == 1
    assert born_at([a_row(1, nan=0, inf=0)], a_birth()) is None


@pytest.mark.parametrize("differs", [{"direction": "backward"}, {"module": "body"}, {"file": "b.py"}, {"line": 4}])
def test_an_op_of_another_place_is_not_where_it_was_born(differs):
    assert born_at([a_row(1, **differs)], a_birth()) is None


def test_a_birth_without_an_op_or_a_value_has_no_row():
    assert born_at([a_row()], None) is None
    assert born_at([a_row()], a_birth(op=None)) is None and born_at([a_row()], a_birth(output=False)) is None
    assert born_at([a_row(file=None, line=None)], a_birth(frame=False)) == 4
