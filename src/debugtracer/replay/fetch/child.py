"""Runs the user's data code once more in a forked child: whatever it counts, caches, draws or moves is gone with the
child. What reaches beyond the process (files written, connections, programs started) is refused there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import random
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.rng import RngState

WRITES = os.O_WRONLY | os.O_RDWR
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "shutil.", "os.link", "os.symlink")
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.kill")
CONNECTS = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "sqlite3.connect")
SYSTEM = ("/proc/", "/sys/", "/dev/", "/usr/", "/etc/", sys.prefix, sys.base_prefix)
READ: list[str] = []
"""In the child: the files of data that were opened for reading."""
MOST_BYTES = 1 << 20  # of an answer
SIZE = 8  # bytes that say how long an answer is


class Unsafe(BaseException):
    """What the user's code is about to do reaches beyond the child. Not an Exception: no `except` of theirs holds
    it."""


def in_child(work: Callable[[], Any], seconds: float) -> Any:
    """What the work gives, computed in a fork of this process, which is as before. Raises ReplayRefused."""
    if sys.platform != "linux":
        raise ReplayRefused("a sample is fetched again on Linux only, where a process can be forked for it")
    if talks_over_devices():
        raise ReplayRefused("a sample is not fetched again beside NCCL or MPI, which a fork can stop or damage")
    state, offsets = RngState(), open_files()
    reader, writer = os.pipe()
    with quiet_warnings():
        child = os.fork()
    if child == 0:
        answer(work, state, writer)
    os.close(writer)
    try:
        told = received(reader, seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(child, 0)
        put_back(offsets)
    if told is None:
        raise ReplayRefused(f"fetching the sample again takes longer than {seconds:g} s")
    if not told:
        raise ReplayRefused("the process that fetched the sample again died")
    word, value = pickle.loads(told)
    if word == "refused":
        raise ReplayRefused(value)
    return value


def talks_over_devices() -> bool:
    """Whether ranks are connected by more than gloo: torch warns of forks beside NCCL (DistributedDataParallel)."""
    dist: Any = torch.distributed
    return bool(dist.is_available() and dist.is_initialized() and set(dist.get_backend().split(",")) - {"gloo", "fake"})


def answer(work: Callable[[], Any], state: RngState, writer: int) -> None:
    """Do the work in the child, write what came of it, and end the process without any handler of the program's."""
    told: tuple[str, Any] = ("refused", "the process that fetched the sample again failed")
    try:
        quiet(writer)
        restore_host(state)
        told = ("done", work())
    except Unsafe as error:
        told = ("refused", str(error))
    except ReplayRefused as error:
        told = ("refused", str(error))
    except BaseException as error:
        told = ("refused", f"fetching the sample again raised {type(error).__name__}")
    finally:
        with contextlib.suppress(BaseException):
            sys.settrace(None)
            data = pickle.dumps(told)
            data = data if len(data) <= MOST_BYTES else pickle.dumps(("refused", "the answer is too long"))
            view = memoryview(len(data).to_bytes(SIZE, "little") + data)
            while view:
                view = view[os.write(writer, view) :]
        os._exit(0)


def quiet(writer: int) -> None:
    """Make the child harmless: silent, one thread, no file grows, no connection of the parent's is open."""
    import resource

    torch.set_num_threads(1)  # the pool of the parent's threads is not here
    threading.settrace(None)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in descriptors():
        with contextlib.suppress(OSError):
            mode = os.fstat(number).st_mode
            talks = stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) or number in (0, 1, 2)
            written = stat.S_ISREG(mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            if (talks or written) and number not in (writer, nothing):
                os.dup2(nothing, number)
    sys.addaudithook(refuse)


def restore_host(state: RngState) -> None:
    """Put the generators of the host where the parent's are: Python draws a new seed after a fork. A device's are left
    alone, which a fork cannot use."""
    torch.default_generator.set_state(state.cpu)
    random.setstate(state.python)
    if state.numpy is not None:
        sys.modules["numpy"].random.set_state(state.numpy)


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise Unsafe before the user's code does what reaches beyond the child."""
    if event == "open":
        path, mode, flags = arguments
        writes = bool(isinstance(flags, int) and flags & WRITES) or (isinstance(mode, str) and set(mode) & set("wax+"))
        if writes and not str(path).startswith(("/dev/null", "/dev/shm")):
            raise Unsafe(f"reading the sample writes a file ({os.path.basename(str(path))})")
        if isinstance(path, (str, os.PathLike)) and is_data(os.fspath(path)):
            READ.append(os.path.abspath(os.fspath(path)))
    elif event.startswith(CHANGES):
        raise Unsafe("reading the sample moves or removes files")
    elif event.startswith(STARTS):
        raise Unsafe("reading the sample starts another program")
    elif event.startswith(CONNECTS):
        raise Unsafe("reading the sample opens a connection")


def is_data(path: str) -> bool:
    """True for a file that holds data: no source, none of the system's or of a library."""
    return not path.endswith((".py", ".pyc", ".so")) and not path.startswith(SYSTEM) and "-packages/" not in path


def received(reader: int, seconds: float) -> bytes | None:
    """What the child has written until it ended; None where it takes too long."""
    ends, data = perf_counter() + seconds, b""
    while (left := ends - perf_counter()) > 0:
        ready, _, _ = select.select([reader], [], [], left)
        if not ready:
            return None
        part = os.read(reader, 1 << 16)
        data += part
        if len(data) >= SIZE and len(data) - SIZE >= int.from_bytes(data[:SIZE], "little"):
            return data[SIZE:]
        if not part:
            return b""
    return None


def descriptors() -> list[int]:
    """The numbers of the open files of this process."""
    return [int(name) for name in os.listdir("/proc/self/fd")]


def open_files() -> list[tuple[int, int]]:
    """Where each file stands that is open for reading: a fork moves it for both processes."""
    found: list[tuple[int, int]] = []
    for number in descriptors():
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(number).st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == 0:
                found.append((number, os.lseek(number, 0, os.SEEK_CUR)))
    return found


def put_back(offsets: list[tuple[int, int]]) -> None:
    """Move these files back to where they stood."""
    for number, offset in offsets:
        with contextlib.suppress(OSError):
            os.lseek(number, offset, os.SEEK_SET)
