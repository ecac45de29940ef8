"""The child of the supervisor: same stdio and terminal; a signal reaches it once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from debugtracer.settings import PREFIX, Settings

BOOTSTRAP = Path(__file__).resolve().parents[1] / "integrations" / "bootstrap"
RUN_DIR = PREFIX + "RUN_DIR"
POLL_S = 1.0  # seconds; SIGCHLD ends the wait at once, this is for parents that ignore it


def supervise(program: list[str], environment: dict[str, str], started: Callable[[], None] | None = None) -> int:
    """Run the program to its end and return its code as subprocess gives it (-n: signal n); `started` is called beside
    it. Raises OSError if it cannot start."""
    watched = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        child = subprocess.Popen(program, env=environment, preexec_fn=lambda: restore(mask))
        if started is not None:
            started()  # its threads are deaf to the signals, as we are: none is lost to them
        while (code := child.poll()) is None:
            forward(child, watched)
        return code
    finally:
        forget_pending(watched)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def restore(mask: set[signal.Signals] | set[int]) -> None:
    """Restore the signal mask we were started with; called in the child before its exec."""
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def forward(child: subprocess.Popen[bytes], watched: set[signal.Signals]) -> None:
    """Wait for a signal and pass it on; one from the terminal has reached the whole process group already."""
    if not hasattr(signal, "sigtimedwait"):  # macOS
        number = signal.sigwait(watched)
        sent_by_process = not os.isatty(0)
    else:
        info = signal.sigtimedwait(watched, POLL_S)
        if info is None:
            return
        # SI_USER and its like; the kernel's are positive
        number, sent_by_process = signal.Signals(info.si_signo), info.si_code <= 0
    if number != signal.SIGCHLD and sent_by_process:
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(number)


def forget_pending(watched: set[signal.Signals]) -> None:
    """Drop pending signals that were meant for the program: the folder is still to be closed."""
    while signal.sigpending() & watched:
        signal.sigwait(watched)


def exit_status(code: int) -> int:
    """The status a shell would give: 128+n for signal n."""
    return 128 - code if code < 0 else code


def child_environment(settings: Settings, folder: Path) -> dict[str, str]:
    """The environment of the program: our settings, and the bootstrap before everything on PYTHONPATH."""
    path = [str(BOOTSTRAP), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **settings.to_env(),
        "DEBUG_TRACER": "1",
        RUN_DIR: str(folder),
        "PYTHONPATH": os.pathsep.join(path),
    }
