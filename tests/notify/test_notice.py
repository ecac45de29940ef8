"""The document of a notice is a contract with those who receive it."""

from __future__ import annotations

from debugtracer.notify.notice import Notice


def test_what_is_posted() -> None:
    assert Notice("error", "stop", "step 7, rank 0 - the run was stopped", "runs/a", 7, 0, True).document(3) == {
        "schema": "debug-tracer.notice/1",
        "severity": "error",
        "event": "stop",
        "text": "debug-tracer: step 7, rank 0 - the run was stopped",
        "run": "runs/a",
        "step": 7,
        "rank": 0,
        "held_back": 3,
    }
    assert {"step", "rank"}.isdisjoint(Notice("warning", "ended", "a").document(0))
