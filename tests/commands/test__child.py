"""The child of the supervisor."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from debugtracer.commands._child import BOOTSTRAP, RUN_DIR, child_environment, exit_status, supervise
from debugtracer.settings import Settings


def test_the_code_of_the_child_is_given_back_and_the_signal_that_ended_it():
    assert supervise([sys.executable, "-c", "raise SystemExit(7)"], dict(os.environ)) == 7
    assert supervise(["/bin/sh", "-c", "kill -9 $$"], dict(os.environ)) == -9


@pytest.mark.parametrize(("code", "status"), [(0, 0), (7, 7), (-9, 137), (-15, 143)])
def test_a_signal_becomes_the_status_a_shell_would_give(code, status):
    assert exit_status(code) == status


def test_the_environment_is_the_child_s_and_our_signal_mask_is_as_before():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert supervise(["/bin/sh", "-c", 'exit "$NUMBER"'], {"NUMBER": "5"}) == 5
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_signal_to_the_supervisor_is_passed_on():
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
    assert supervise(["/bin/sh", "-c", "trap 'exit 6' TERM; sleep 20 & wait"], dict(os.environ)) == 6


def test_a_program_that_cannot_start_is_an_oserror():
    with pytest.raises(OSError, match="No such file"):
        supervise(["/no/such/program"], {})


def test_the_bootstrap_stands_first_and_the_run_has_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    made = child_environment(Settings(), tmp_path)
    assert made["PYTHONPATH"] == os.pathsep.join([str(BOOTSTRAP), "/theirs"])
    assert (made[RUN_DIR], made["DEBUG_TRACER"]) == (str(tmp_path), "1")
