"""Whether the line that called a torch function throws its result away, by the instruction that follows the call."""

from __future__ import annotations

import dis
import sys
from types import CodeType, FrameType

from debugtracer.callsites.frames import OURS, TORCH, USER, RawFrames, place_of

CACHE = dis.opmap.get("CACHE", 0)
DEEPEST = 12  # frames between the call and us (ours)
_followed: dict[tuple[CodeType, int], bool] = {}
MOST = 4096  # calls remembered before all are forgotten (ours)


def discarded_call(name: str) -> RawFrames:
    """The user's line that called the function reported just now and drops what it gave; () for any other."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(DEEPEST):
        if frame is None:
            return ()
        code = frame.f_code
        place = place_of(code)
        if place == USER:
            return ((code, frame.f_lineno),) if is_dropped(code, frame.f_lasti) else ()
        # what torch does on the way to a mode, and the Python half of a function of the same name
        if place != OURS and not (place == TORCH and code.co_name in (name, "handle_torch_function")):
            return ()
        frame = frame.f_back
    return ()


def is_dropped(code: CodeType, instruction: int) -> bool:
    """Whether the value that an instruction gives is popped at once: a statement that is an expression."""
    key = code, instruction
    if key not in _followed:
        if len(_followed) >= MOST:
            _followed.clear()
        _followed[key] = popped_next(code, instruction)
    return _followed[key]


def popped_next(code: CodeType, instruction: int) -> bool:
    """Read the instruction and the next one from the bytes, past the caches between them: `dis` would describe the
    whole function, a hundredth of a second for a long script."""
    codes = code.co_code[::2]
    at = instruction // 2
    while at > 0 and codes[at] == CACHE:  # the place may lie in the cache behind the call
        at -= 1
    after = next((one for one in codes[at + 1 :] if one != CACHE), CACHE)
    return dis.opname[codes[at]].startswith(("CALL", "BINARY")) and dis.opname[after] == "POP_TOP"
