"""The edits by name, and the one question: what does this line become?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from debugtracer.causes.rewrite.arguments import as_float, clamped, logs_clamped
from debugtracer.causes.rewrite.divisors import guarded
from debugtracer.causes.rewrite.keywords import WORDS, in_place_off, larger_eps, lower_beta2, lower_lr, set_word
from debugtracer.causes.rewrite.line import Line, NotUnderstood, parsed
from debugtracer.causes.rewrite.losses import (
    allocated,
    class_dim,
    counted_targets,
    finite_mask,
    floor_scores,
    log_of_scores,
    raw_scores,
    safe_branch,
    same_shape,
)
from debugtracer.causes.rewrite.statements import clipped, detached, out_of_place, rooted, shared_out, zeroed

Edited = Callable[[Line, "float | None", str, str], tuple[str, ...]]
VALUES: dict[str, Edited] = {
    "clamp-argument": clamped,
    "clamp-logs": logs_clamped,
    "guard-divisor": guarded,
    "as-float": as_float,
    "larger-eps": larger_eps,
    "lower-lr": lower_lr,
    "lower-beta2": lower_beta2,
    "inplace-off": in_place_off,
    "raw-scores": raw_scores,
    "class-dim": class_dim,
    "log-of-scores": log_of_scores,
    "same-shape": same_shape,
    "counted-targets": counted_targets,
    "finite-mask": finite_mask,
    "floor-scores": floor_scores,
    "safe-branch": safe_branch,
    "allocated": allocated,
}
"""Edits of an expression."""
STATEMENTS: dict[str, Edited] = {
    "zero-grad": zeroed,
    "clip-gradient": clipped,
    "share-out": shared_out,
    "detach": detached,
    "out-of-place": out_of_place,
    "keep-graph": rooted,
}
"""Edits of a statement; these may need the name of the optimizer."""
EDITS = (*VALUES, *STATEMENTS, *WORDS)


def rewritten(
    code: str, edit: str, value: float | None = None, *, op: str = "", dtype: str = "", optimizer: str = ""
) -> tuple[str, ...] | None:
    """The line or lines in the place of this one; None when the line is not understood or the edit changes nothing.

    Arguments: code - one stripped source line; edit - a name of EDITS; value - its size (eps, distance from an edge,
    what the rate is divided by, norm), else a default that `dtype` can hold; op - base name of the op of birth, which
    says what call of the line is meant; optimizer - its name in the scope of the line, "" if not known.
    """
    try:
        after = changed(parsed(code), edit, value, op, dtype, optimizer)
        for line in after:
            parsed(line)
    except NotUnderstood:
        return None
    return after if after != (code,) else None


def changed(line: Line, edit: str, value: float | None, op: str, dtype: str, optimizer: str) -> tuple[str, ...]:
    """Apply the edit of that name to the line. Raises NotUnderstood."""
    if edit in STATEMENTS:
        return STATEMENTS[edit](line, value, op, optimizer)
    edited: Edited = partial(worded, edit) if edit in WORDS else VALUES[edit]
    return edited(line, value, op, dtype)


def worded(edit: str, line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Apply the edit of one keyword of a call."""
    return set_word(line, edit)
