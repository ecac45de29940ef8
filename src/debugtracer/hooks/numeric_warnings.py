"""Listens to the warnings of numpy and scipy that Inf or NaN came out: they name the line, long before a step has the
value."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.numeric_warning import WORDS, NumericWarning
from debugtracer.errors import guarded
from debugtracer.hooks.hook import AlwaysOn, Patches

MOST = 64  # warnings kept, the first ones (ours)


class NumericWarningsHook(AlwaysOn):
    """One function of the warnings module, which Python calls for each warning that is to be shown: one for a line,
    under the filters that hold by themselves."""

    def __init__(self, heard: list[NumericWarning]) -> None:
        self.heard = heard
        self.patches = Patches()

    def install(self) -> None:
        """Patch the function that also warnings of C code go through."""
        self.patches.wrap(warnings, "_showwarnmsg", self.listening)

    def remove(self) -> None:
        self.patches.undo()

    def listening(self, original: Any) -> Any:
        """The same, after a look at the text."""

        @functools.wraps(original)
        def show(message: Any) -> None:
            self.note(message)
            original(message)

        return show

    @guarded("hooks.numeric_warnings")
    def note(self, message: Any) -> None:
        """Keep a warning about a number."""
        text = str(message.message)
        if len(self.heard) < MOST and issubclass(message.category, RuntimeWarning) and text.startswith(WORDS):
            frames = user_frames()
            if frames and is_user_file(frames[0].file):
                self.heard.append(NumericWarning(text, frames))
