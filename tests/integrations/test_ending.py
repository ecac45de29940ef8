"""The end of a watched process."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from debugtracer.errors import STOPPED
from debugtracer.trace.events import Crashed
from debugtracer.trace.store.manifest import read_manifest
from debugtracer.trace.store.reader import open_trace

TRAIN = """
import debugtracer, sys
debugtracer.watch(out="runs", mode=sys.argv[1])
import torch
m = torch.nn.Linear(4, 1); o = torch.optim.SGD(m.parameters(), lr=0.1)
for n in range(3):
    o.zero_grad(); m(torch.full((2, 4), float("nan") if "bad" in sys.argv and n == 1 else 1.0)).mean().backward(); \
o.step()
"""


def ended(tmp_path, last: str, *words: str, python: list[str]):
    """How it ends."""
    (tmp_path / "train.py").write_text(TRAIN + last)
    env = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")} | {"DEBUG_TRACER_STRICT": "1"}
    done = subprocess.run(
        [*python, "train.py", *words],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done, read_manifest((tmp_path / "runs" / "latest").resolve())


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ("raise KeyError('mine')", 1),
        ("sys.excepthook = lambda *a: print('theirs', file=sys.stderr)\nraise KeyError('mine')", 1),
    ],
    ids=["as it is", "with a hook of the program's own"],
)
def test_a_crash_is_recorded_whoever_shows_it(tmp_path, programs, last, status):
    done, manifest = ended(tmp_path, last, "dev", python=programs.to_its_end)
    assert (done.returncode, manifest.exit_code, manifest.status) == (status, 1, "ended")
    assert ("theirs" if "theirs" in last else "KeyError: 'mine'") in done.stderr
    assert [e.error for e in open_trace(tmp_path / "runs").events() if isinstance(e, Crashed)] == ["KeyError"]


def test_an_exception_that_the_program_caught_and_showed_is_no_crash(tmp_path, programs):
    shown = "try:\n    raise KeyError('mine')\nexcept KeyError:\n    sys.excepthook(*sys.exc_info())\n"
    done, _ = ended(tmp_path, shown, "dev", python=programs.to_its_end)
    assert (done.returncode, "KeyError: 'mine'" in done.stderr) == (0, True)
    assert [e for e in open_trace(tmp_path / "runs").events() if isinstance(e, Crashed)] == []


def test_an_unsupervised_stop_is_in_the_manifest_and_in_the_status(tmp_path, programs):
    done, manifest = ended(tmp_path, "", "dev", "bad", python=programs.to_its_end)
    assert (done.returncode, manifest.exit_code, manifest.stopped_by_tracer) == (STOPPED, STOPPED, True)


def test_a_healthy_end_names_the_folder_in_the_last_line_and_claims_no_status(tmp_path, programs):
    done, manifest = ended(tmp_path, "print('done')", "dev", python=programs.to_its_end)
    assert (done.returncode, done.stdout, manifest.exit_code, manifest.status) == (0, "done\n", None, "ended")
    *notes, folder = done.stderr.splitlines()
    assert folder == f"debug-tracer: run folder {(tmp_path / 'runs' / 'latest').resolve()}"
    assert all(re.fullmatch(r"debug-tracer: \d+ notes?; see: debug-tracer report \S+", line) for line in notes), notes


def test_a_run_with_a_finding_ends_with_its_verdict_on_stderr_and_keeps_its_status(tmp_path, programs):
    last = "print('done', flush=True); m(torch.ones(2, 5))"
    done, manifest = ended(tmp_path, last, "dev", python=programs.python)
    assert (done.returncode, done.stdout, manifest.exit_code) == (1, "done\n", 1)
    traceback, _, rest = done.stderr.partition("RuntimeError")
    assert "debug-tracer: " not in traceback
    assert "debug-tracer: shape mismatch (confirmed) at step" in rest and "What to do" in rest
    assert rest.splitlines()[-1].startswith("debug-tracer: run folder ")


def test_leaving_a_watch_tells_the_verdict_too(tmp_path, programs):
    last = "from debugtracer import session; session.stop()\nw = debugtracer.watch(out='runs', mode='observe')\n"
    last += "try:\n    with w: m(torch.ones(2, 5))\nexcept RuntimeError: print('caught')"
    done, _ = ended(tmp_path, last, "dev", python=programs.python)
    assert (done.returncode, done.stdout) == (0, "caught\n")
    assert "debug-tracer: shape mismatch (confirmed) at step" in done.stderr
