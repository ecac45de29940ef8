"""Forks programs and `debug-tracer` commands from a process that has imported what they import (tests/forked). Ends
when its stdin does."""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import select
import shutil
import signal
import socket
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import NoReturn

STREAMS = 3
IMPORTS = (
    *("torch", "torch.utils.data", "torch.optim.lr_scheduler", "torch.utils.checkpoint", "torch.multiprocessing",
        "torch.distributed", "numpy"),
    "torch._dynamo",  # every optimizer imports it
    *("pyarrow", "pyarrow.parquet", "pyarrow.compute", "safetensors.torch", "debugtracer"),
    "typer._adapters",  # pydantic, which typer brings with the first options it reads
)  # fmt: skip
NOT_WITHOUT_CAUSE = ("__main__", "sitecustomize", "lightning", "transformers", "notebook", "tracking", "triton_kernels")
"""Modules of ours that are scripts, or whose import brings what a program may not have."""


def preload() -> None:
    """Import what programs and commands import; nothing of it starts a thread or writes a file."""
    for name in IMPORTS:
        importlib.import_module(name)
    for finalizer in weakref.finalize._registry:  # torch's own, of what is thrown away with the process
        finalizer.atexit = False
    ours = sys.modules["debugtracer"]
    for info in pkgutil.walk_packages(ours.__path__, "debugtracer."):
        if info.name.rpartition(".")[2] not in NOT_WITHOUT_CAUSE:
            importlib.import_module(info.name)


def serve(place: str) -> None:
    """Take connections until our stdin ends; each is answered by a child of ours."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(place)
    listening.listen(16)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listening, 0], [], [])
        if 0 in ready:
            shutil.rmtree(os.path.dirname(place), ignore_errors=True)
            return
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            answer(connection)
            return  # only in a program that has been run: what is left of the interpreter's end is its own
        connection.close()
        reap()


def reap() -> None:
    """Children that are done."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def answer(connection: socket.socket) -> None:
    """Run what is asked for in a session of its own, and tell its status; end it when nobody waits any more. Returns in
    the program alone."""
    first, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_LEN(STREAMS * array.array("i").itemsize))
    streams = array.array("i")
    streams.frombytes(ancillary[0][2])
    size = int.from_bytes(first, "little")
    asked = json.loads(connection.recv(size, socket.MSG_WAITALL))
    child = os.fork()
    if child == 0:
        connection.close()
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        command(asked["words"], asked["cwd"], asked["env"])
        return
    for stream in streams:
        os.close(stream)
    status = waited(child, connection)
    if status is not None:
        connection.sendall(status.to_bytes(4, "little", signed=True))
    os._exit(0)


def waited(child: int, connection: socket.socket) -> int | None:
    """The status of a child (-n: signal n); None when the other end hung up, and the child with its session is
    ended."""
    watched = os.pidfd_open(child)
    ready, _, _ = select.select([watched, connection], [], [])
    if watched not in ready:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(child, signal.SIGKILL)
        return None
    return code_of(os.waitpid(child, 0)[1])


def code_of(status: int) -> int:
    """What waitpid gave, as subprocess tells it."""
    return os.waitstatus_to_exitcode(status)


def command(words: list[str], cwd: str, env: dict[str, str]) -> None:
    """Become `debug-tracer ARGUMENTS` or `python SCRIPT ARGUMENTS`; `python-to-its-end` leaves the end to the
    interpreter, which takes all modules apart. Returns where such a program has run to its end."""
    os.chdir(cwd)
    if words[0] == "python":
        return become(words[1:], env)
    if words[0] == "python-to-its-end":
        return become(words[1:], env, end=sys.exit)
    adopt(env)
    sys.argv, sys.orig_argv = ["debug-tracer", *words[1:]], [sys.executable, "-m", "debugtracer", *words[1:]]
    sys.path[0] = cwd
    import debugtracer.commands._supervised as run

    original = run.supervise

    def supervise(program: list[str], environment: dict[str, str], started: Callable[[], None] | None = None) -> int:
        """As the real one, in a fork, where the program is a script of our Python."""
        if program[0] != sys.executable or program[1].startswith("-"):
            return int(original(program, environment, started))
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            raise Run(program[1:], environment)
        if started is not None:
            started()
        return code_of(os.waitpid(child, 0)[1])

    run.supervise = supervise
    from debugtracer.commands.app import main

    try:
        main()
    except SystemExit as asked:
        end(asked.code)
    except Run as asked:
        words, env = asked.args
    become(words, env)


class Run(BaseException):
    """Thrown through the command in a fork of it: this process is the program now. Its arguments: words and
    environment."""


def adopt(env: dict[str, str]) -> None:
    """Take an environment, with what it says of the path of modules."""
    old = set(filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    os.environ.clear()
    os.environ.update(env)
    new = list(filter(None, env.get("PYTHONPATH", "").split(os.pathsep)))
    sys.path[1:] = list(dict.fromkeys([*new, *(p for p in sys.path[1:] if p not in old)]))


def end(code: object) -> NoReturn:
    """What Python does at its end, but for taking apart the modules that were imported before the fork, which takes a
    second."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    main = vars(sys.modules["__main__"])
    if main is not globals():  # the program's own objects say their last words
        main.clear()
        gc.collect()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed by the program, or nobody reads it any more
            stream.flush()
    os._exit((code or 0) & 0xFF)


def become(words: list[str], env: dict[str, str], end: Callable[[object], NoReturn] = end) -> None:
    """Run a script as `python SCRIPT ARGUMENTS` would, its last words on an exception included."""
    adopt(env)
    sys.argv, sys.orig_argv = list(words), [sys.executable, *words]
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    import multiprocessing.process

    multiprocessing.process.ORIGINAL_DIR = os.getcwd()
    random.seed()
    sys.modules["numpy"].random.seed()
    file = os.path.abspath(words[0])
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    if env.get("DEBUG_TRACER", "") not in ("", "0"):
        from debugtracer.integrations.begin import begin

        begin()
    try:
        with open(file, "rb") as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
        exec(code, main.__dict__)
    except KeyboardInterrupt:
        raise  # the interpreter's own end: death by SIGINT
    except SystemExit as asked:
        end(asked.code)
    except BaseException as error:
        shown(error)
        end(1)
    end(0)


def shown(error: BaseException) -> None:
    """What Python does with an exception that nobody catches, without our own frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == shown.__code__.co_filename:
        trace = trace.tb_next
    error = error.with_traceback(trace)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.excepthook(type(error), error, trace)


if __name__ == "__main__":
    preload()
    gc.collect()
    gc.freeze()  # no collection in a child looks at what was there before, nor copies its pages
    serve(sys.argv[2])
