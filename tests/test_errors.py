"""Our failures never become the user's."""

from __future__ import annotations

import pytest

from debugtracer import errors
from debugtracer.errors import DebugTracerError, ReplayRefused, StoppedByTracer, UsageError, guarded


@pytest.fixture(autouse=True)
def _lenient(monkeypatch):
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})


@guarded("probe.test")
def broken() -> int:
    raise KeyError("ours")


def test_a_failure_is_said_once_and_counted(capsys):
    assert [broken() for _ in range(3)] == [None] * 3
    said = capsys.readouterr().err
    assert (
        said.startswith("debug-tracer: probe.test failed (KeyError: 'ours'); training goes on without it.")
        and said.count("\n") == 1
    )
    failure = errors.failures["probe.test"]
    assert (failure.count, "raise KeyError" in failure.first) == (3, True)


def test_the_stop_goes_through_every_guard_and_is_no_exception_a_loop_would_catch():
    @guarded("x")
    def stop() -> None:
        raise StoppedByTracer

    with pytest.raises(StoppedByTracer) as caught:
        try:
            stop()
        except Exception:
            pytest.fail("a loop's `except Exception` swallowed the stop")
    assert caught.value.code == 3


def test_strict_raises_what_would_be_swallowed(monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")
    with pytest.raises(KeyError):
        broken()


def test_that_the_program_has_stopped_its_device_is_no_failure_of_ours(monkeypatch, capsys):
    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")
    errors.swallow("x", RuntimeError("CUDA error: device-side assert triggered"))
    assert (errors.failures, capsys.readouterr().err) == ({}, "")


def test_ctrl_c_is_not_swallowed():
    @guarded("x")
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_all_errors_on_purpose_are_ours():
    assert (
        issubclass(UsageError, DebugTracerError)
        and issubclass(ReplayRefused, DebugTracerError)
        and not issubclass(StoppedByTracer, Exception)
    )
