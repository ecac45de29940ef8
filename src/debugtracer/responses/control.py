"""A person's word to a run: `stop`, `pause` or `resume` in its file `control`, or typed where it waits."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from debugtracer.notify.notice import Notice
from debugtracer.recorder.listeners import PassListener
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.attendance import at_terminal
from debugtracer.responses.bad_step import SeenBatch
from debugtracer.trace.store.schema import CONTROL, CONTROL_WORDS
from debugtracer.trace.store.word_file import take_word

POLL_S = 2.0  # seconds between two looks at the file while training (ours)
WAIT_S = 0.5  # seconds between two looks while the run waits (ours)
ASKED = "a person has asked for it"


class Control(PassListener):
    """One per process, in modes val and prod. It acts where a batch is fetched, and looks every two seconds."""

    waiting = True

    def __init__(
        self,
        state: RunState,
        output: Output,
        log: ActionLog,
        passes: LoaderPasses,
        save: Callable[[], str],
        stopped: Callable[[], type[BaseException]],
        limit_s: float | None,
    ) -> None:
        """Take what writes the state and says where; a run that was told to pause and waits
        longer than `limit_s` stops (0 and None: never)."""
        self.state, self.output, self.log = state, output, log
        self.passes, self.save, self.stopped, self.limit_s = passes, save, stopped, limit_s
        self.due_s = 0.0

    def before_fetch(self, iterator: Any) -> bool:
        now = perf_counter()
        if now < self.due_s or not self.passes.inside():
            return False
        self.due_s = now + POLL_S
        word = self.word()
        if word in ("stop", "pause") and not several_ranks():
            self.obey(word)
        elif word:
            self.output.note(
                "control", f"`{word}` was not obeyed: several ranks train together, or the run does not wait"
            )
        return False

    def obey(self, word: str) -> None:
        """Stop, or wait for the next word. Raises the stop."""
        saved = self.save()
        if word == "pause":
            self.say("pause", f"the run waits; {saved}")
            if self.wait(self.limit_s or float("inf")) == "resume":
                self.say("resume", "the run goes on")
                return
        self.say("stop", f"the run was stopped; {saved}")
        raise self.stopped()

    def say(self, slug: str, done: str) -> None:
        """Write down what was done at a person's word."""
        self.log.noted(SeenBatch(self.state.step, self.state.iteration, None, ASKED, asked=True), slug, done, None)

    def wait(self, limit_s: float) -> str:
        """Wait for `resume` or `stop`, in the file or at the terminal; `stop` where none comes in time."""
        end = perf_counter() + limit_s
        where = self.path()
        print(
            f"debug-tracer: step {self.state.step} - the run waits - expected `resume` or `stop` in {where}"
            f"{' or here' if at_terminal() else ''}"
            f"{f' within {limit_s:.0f} s, else it stops' if limit_s < float('inf') else ''}.",
            file=sys.stderr,
            flush=True,
        )
        text = f"step {self.state.step}, rank {self.output.rank} - the run waits for `resume` or `stop` in {where}"
        self.log.notices.tell(Notice("error", "pause", text, str(self.output.folder or ""), self.state.step, last=True))
        while perf_counter() < end:
            word = self.word() or typed()
            if word in ("resume", "stop"):
                return word
        return "stop"

    def path(self) -> Path | None:
        """The file; None before there is a run folder."""
        return self.output.folder / CONTROL if self.output.folder is not None else None

    def word(self) -> str:
        """The word in the file, which is taken away; empty where there is none."""
        path = self.path()
        if path is None:
            return ""
        try:
            found = take_word(path)
        except OSError:
            return ""
        if found and found not in CONTROL_WORDS:
            print(
                f"debug-tracer: step {self.state.step} - {found[:20]!a} was written into {path} - expected one of "
                f"{', '.join(CONTROL_WORDS)} - nothing was done.",
                file=sys.stderr,
                flush=True,
            )
        return found if found in CONTROL_WORDS else ""


def typed() -> str:
    """A word typed at the terminal; empty after a moment without one."""
    if not at_terminal():
        sleep(WAIT_S)
        return ""
    ready, _, _ = select.select([sys.stdin], [], [], WAIT_S)
    return sys.stdin.readline().strip().lower() if ready else ""
