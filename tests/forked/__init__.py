"""A `debug-tracer` and a `python` whose processes are forked from one that has imported torch already: a program starts
in a tenth of the time.

`programs()` starts such a process, once; its `tool` and `python` are words to put before the arguments, in place of
`python -m debugtracer` and `python`. What runs is the command itself and the program itself, each in a process of its
own with its own environment, folder and streams; only what `import torch` and `import debugtracer` do is not done
again, and watching begins before the first line of a script, not at its import of torch. A program whose start is
itself the subject (a launcher, `-m`, `-c`, a variable of Python) takes the real command."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# no line of it is taken for a line of the user's
START = "import sys; exec(compile(open(sys.argv[1]).read(), '<forked programs>', 'exec'))"


_kept = contextlib.ExitStack()
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
REAL = "DEBUG_TRACER_TESTS_REAL"
"""With this variable programs are started as users start them, each from nothing: so does `just sweep`."""


@dataclass(frozen=True)
class Programs:
    """The words that start one."""

    tool: list[str]
    python: list[str]
    to_its_end: list[str]
    """A `python` that also takes its modules apart at its end, which takes a second."""
    launcher: list[str]
    """torchrun of two ranks, before the script; never forked: gloo's threads hung a forked rank at its end."""


@functools.cache
def programs() -> Programs:
    """Those of this process of tests; what they are forked from starts at the first call and ends with this process."""
    return _kept.enter_context(forking())


@contextlib.contextmanager
def forking() -> Iterator[Programs]:
    """A process to fork from, for the with block; what the environment says to torch must be said before."""
    if os.environ.get(REAL) == "1" or not hasattr(os, "pidfd_open"):
        real = [sys.executable]
        yield Programs([*real, "-m", "debugtracer"], real, real, TORCHRUN)
        return
    place = os.path.join(tempfile.mkdtemp(prefix="forked-"), "socket")  # the server removes it
    own = {name: value for name, value in os.environ.items() if not name.startswith("DEBUG_TRACER")}
    env = {"OMP_NUM_THREADS": "1"} | own | {"PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-c", START, str(HERE / "server.py"), place]
    with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        if server.stdout.readline() != b"ready\n":
            raise RuntimeError("the process to fork from did not start; its words stand on stderr")
        client = [sys.executable, "-IS", str(HERE / "client.py"), place]
        tool, python, to_its_end = ([*client, word] for word in ("debug-tracer", "python", "python-to-its-end"))
        yield Programs(tool, python, to_its_end, TORCHRUN)
