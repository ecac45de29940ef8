"""Which signals the program has given to faulthandler itself: there is one handler a signal, and ours would take its
place."""

from __future__ import annotations

import faulthandler
import functools
from typing import Any


class FatalSignals:
    """Listens to faulthandler.register and unregister; what a program registers before it imports torch is not seen."""

    def __init__(self) -> None:
        self.taken: set[int] = set()
        self.before: dict[str, Any] = {}

    def install(self) -> None:
        """Patch register and unregister of faulthandler, where the platform has them."""
        for name, note in (("register", self.taken.add), ("unregister", self.taken.discard)):
            original = getattr(faulthandler, name, None)
            if original is not None and name not in self.before:
                self.before[name] = original
                setattr(faulthandler, name, noting(original, note))

    def remove(self) -> None:
        """Restore the functions of faulthandler; what somebody patched over us stays."""
        for name, original in self.before.items():
            if getattr(getattr(faulthandler, name), "__wrapped__", None) is original:
                setattr(faulthandler, name, original)
        self.before.clear()

    def pause(self) -> None:
        """Do nothing: a replay registers no signals."""

    def resume(self) -> None:
        """Do nothing, as the counterpart of pause()."""

    def keep(self, number: int, **how: Any) -> bool:
        """Register a handler of ours unless the program has one; whether it did."""
        register = self.before.get("register") or getattr(faulthandler, "register", None)
        if register is None or number in self.taken:
            return False
        register(number, **how)
        return True


def noting(original: Any, note: Any) -> Any:
    """The function of faulthandler, which also notes the signal after it succeeded."""

    @functools.wraps(original)
    def called(signum: int, *args: Any, **kwargs: Any) -> Any:
        done = original(signum, *args, **kwargs)
        note(int(signum))
        return done

    return called
