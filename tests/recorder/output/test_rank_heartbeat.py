"""Where a rank stands is written while it waits, and when it dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from debugtracer.recorder.output import rank_heartbeat
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.last_words import LAST_WORDS, last_words

KILLED = """
import os, signal, sys
from pathlib import Path
from debugtracer.recorder.output.rank_heartbeat import RankHeartbeat
from debugtracer.recorder.run_state import RunState
def handler(number, frame):
    print("handled", flush=True)
if sys.argv[2] == "handles":
    signal.signal(signal.SIGTERM, handler)
place = RankHeartbeat(RunState())
place.open(Path(sys.argv[1]))
def main():
    if sys.argv[2] == "forks" and os.fork() == 0:
        place.reset()
        os.kill(os.getpid(), signal.SIGTERM)
    elif sys.argv[2] == "forks":
        os._exit(os.wait()[1])
    os.kill(os.getpid(), signal.SIGABRT if sys.argv[2] == "aborts" else signal.SIGTERM)
main()
"""


def killed(folder: Path, how: str):
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), how], capture_output=True, text=True, timeout=100)
    return done, last_words((folder / LAST_WORDS).read_text())


def test_a_signal_leaves_the_stack_and_the_status(tmp_path):
    done, words = killed(tmp_path, "dies")
    assert (done.returncode, words.how, words.stack[0].function, done.stderr) == (-15, "killed", "main", "")


def test_an_abort_is_told_by_name(tmp_path):
    done, words = killed(tmp_path, "aborts")
    assert (done.returncode, words.how, words.message, words.stack[0].function) == (-6, "killed", "Aborted", "main")


def test_a_handler_of_the_program_still_runs(tmp_path):
    done, words = killed(tmp_path, "handles")
    assert (done.returncode, done.stdout, words.how) == (0, "handled\n", "killed")


def test_a_forked_child_that_is_ended_writes_nothing(tmp_path):
    done, words = killed(tmp_path, "forks")
    assert (done.returncode, words) == (15, None)


def test_a_wait_is_written_once_and_taken_back(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(rank_heartbeat, "monotonic", lambda: now[0])
    monkeypatch.setattr(rank_heartbeat.faulthandler, "register", lambda *args, **kwargs: None)
    ready, go, place = threading.Event(), threading.Event(), rank_heartbeat.RankHeartbeat(RunState())

    def waits_here():
        place.open(tmp_path)
        ready.set()
        go.wait(60)
        ready.set()
        threading.Event().wait(0.5)

    waiting = threading.Thread(target=waits_here)
    waiting.start()
    ready.wait(60)
    for _ in range(20):  # until the thread has reached its wait
        place.watch()
    now[0] += 11
    place.watch()
    place.watch()
    text = (tmp_path / LAST_WORDS).read_text()
    assert text.count("== waits after 0 updates") == 1
    assert any(entry.function == "waits_here" for entry in last_words(text).stack)
    ready.clear()
    go.set()
    ready.wait(60)
    place.watch()
    waiting.join()
    assert last_words((tmp_path / LAST_WORDS).read_text()) is None


def test_an_exception_is_written_with_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_heartbeat.faulthandler, "register", lambda *args, **kwargs: None)
    state = RunState()
    state.step = 7
    place = rank_heartbeat.RankHeartbeat(state)
    place.open(tmp_path)
    try:
        raise RuntimeError("Timed out")
    except RuntimeError as error:
        place.died(error)
    words = last_words((tmp_path / LAST_WORDS).read_text())
    assert (words.how, words.updates, words.message, words.stack[0].file) == (
        "crashed",
        7,
        "RuntimeError: Timed out",
        __file__,
    )
