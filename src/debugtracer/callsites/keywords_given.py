"""How a call on the live stack was written: how many arguments by place, which by keyword. Reads bytecode."""

from __future__ import annotations

import dis
from types import CodeType

from debugtracer.callsites.line import user_frame


def written_arguments(skip: int = 1) -> tuple[int, tuple[str, ...]] | None:
    """The number of arguments and the keywords of the call that the user's innermost line makes now; None where they
    come from a star."""
    frame = user_frame(skip + 1)
    return None if frame is None else arguments_at(frame.f_code, frame.f_lasti)


def arguments_at(code: CodeType, instruction: int) -> tuple[int, tuple[str, ...]] | None:
    """Find the call at an instruction, and the names that were loaded for it just before."""
    upto = [one for one in dis.get_instructions(code) if one.offset <= instruction]  # or in the cache behind the call
    if not upto or not upto[-1].opname.startswith("CALL") or upto[-1].opname == "CALL_FUNCTION_EX":
        return None
    call = upto[-1]
    names = next((one for one in reversed(upto[-3:-1]) if one.opname in ("KW_NAMES", "LOAD_CONST")), None)
    named = names is not None and (names.opname == "KW_NAMES" or call.opname in ("CALL_KW", "CALL_FUNCTION_KW"))
    given = code.co_consts[names.arg or 0] if named and names is not None else ()
    return int(call.arg or 0), tuple(given)
