"""What doctor says of a machine and of a run."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.commands.app import status
from debugtracer.commands.doctor import folder, machine, switch
from debugtracer.testing import AT, a_finding, a_trace
from debugtracer.trace.events import Crashed, Failed, Found, Noted


def test_this_machine_can_be_watched(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = {what: fine for fine, what, _ in machine()}
    assert all(lines.values()) and {"python", "torch", "accelerator", "autoload", "bootstrap", "runs"} <= set(lines)
    assert list(tmp_path.iterdir()) == []


def test_a_switched_off_autoload_and_a_folder_that_cannot_be_written_are_bad(monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert switch()[0] is False and "use `debug-tracer run`" in switch()[2]
    monkeypatch.setenv("DEBUG_TRACER_OUT", "/proc/runs")
    assert folder()[0] is False and "--out" in folder()[2]


@pytest.mark.parametrize(
    ("event", "code", "says"),
    [
        (Noted(at=AT, rank=0, what="loader", text="seen"), 0, "seen"),
        (Noted(at=AT, rank=0, what="copies-off", text="too dear"), 0, "too dear"),
        (Crashed(at=AT, rank=0, error="KeyError", message="mine", iteration=1, step=1), 0, "KeyError: mine"),
        (Failed(at=AT, rank=0, where="probe.x", count=4, first="Traceback"), 1, "probe.x, 4 time(s)"),
    ],
)
def test_what_became_of_the_watch_is_in_the_status(event, code, says, tmp_path, capsys):
    assert status(["doctor", str(a_trace(tmp_path, event))]) == code
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("check", "severity", "code"),
    [
        ("optimizer/update-missing", "warning", 1),
        ("optimizer/update-missing", "note", 0),
        ("optimizer/loss-plateau", "warning", 0),
    ],
)
def test_a_run_in_which_nothing_was_learned_is_not_well(check, severity, code, tmp_path, capsys):
    finding = msgspec.structs.replace(a_finding(), check=check, severity=severity, message="no update in 192 calls")
    assert status(["doctor", str(a_trace(tmp_path, Found(at=AT, finding=finding)))]) == code
    assert ("no update in 192 calls" in capsys.readouterr().out) == bool(code)


def test_a_run_nobody_reported_to_is_bad(tmp_path, capsys):
    assert status(["doctor", str(a_trace(tmp_path, ranks=0))]) == 1
    assert "no process reported" in capsys.readouterr().out
