"""A forked program is told from one that Python starts by nothing but its speed: streams, arguments, environment,
status, last words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import REAL, programs

pytestmark = pytest.mark.skipif(os.environ.get(REAL) == "1", reason="nothing is forked")
SEEN = """
import json, os, sys, __main__
print(json.dumps([sys.argv, sys.path[0], os.getcwd(), os.environ["WORD"], __name__, __main__.__file__, \
sys.stdin.read(), sys.stdout.line_buffering]))
"""
ENDS = {
    "to its end": "print('done')",
    "with a status": "import sys; print('out'); sys.exit(7)",
    "with a word": "import sys; sys.exit('no data')",
    "with an exception": "def f():\n    raise KeyError('mine')\n\nf()",
    "with a chained exception": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('two') from error"
    ),
    "with a syntax error": "print('a'\n",
    "at exit": (
        "import atexit\natexit.register(print, 'last')\nclass A:\n    def __del__(self): print('gone')\na = "
        "A()\nprint('first')"
    ),
    "by a signal": "import os\nos.kill(os.getpid(), 15)",
    "by Ctrl-C": "raise KeyboardInterrupt",
    "hard": "import os\nprint('lost')\nos._exit(4)",
    "with a thread": (
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), "
        "print('thread'))).start()\nprint('main')"
    ),
}


def run(start: list[str], script: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "WORD": "given"}
    return subprocess.run(
        [*start, script.name, "a", "b c"],
        cwd=script.parent,
        env=env,
        input="typed",
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_a_program_sees_what_it_would_see(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SEEN)
    forked, real = run(programs().python, script), run([sys.executable], script)
    assert json.loads(forked.stdout) == json.loads(real.stdout), forked.stderr


@pytest.mark.parametrize("source", ENDS.values(), ids=ENDS)
def test_a_program_ends_as_it_would_end(source: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(source)
    real = run([sys.executable], script)
    for start in (programs().python, programs().to_its_end):
        forked = run(start, script)
        assert (forked.returncode, forked.stdout) == (real.returncode, real.stdout), forked.stderr
        if real.returncode != -signal.SIGINT:  # there the traceback has lines of the process that forks
            assert forked.stderr == real.stderr


def test_a_program_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(100)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([*programs().python, script.name], cwd=tmp_path, timeout=5)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(100):
            os.kill(pid, 0)
            signal.sigtimedwait(set(), 0.1)


def test_the_command_watches_a_program_and_passes_on_its_status(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import sys\nprint('hello')\nsys.exit(5)\n")
    done = subprocess.run(
        [*programs().tool, "run", "--out", "runs", "train.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (5, "hello\n")
    assert f"debug-tracer: run folder {tmp_path / 'runs'}" in done.stderr
