"""Does a saved state fit what it is loaded into?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SIZES = re.compile(
    r"size mismatch for ([\w.]+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, .* "
    r"torch\.Size\(\[([\d, ]*)\]\)"
)
KEYS = re.compile(r'"([^"]+)"')
STATE = re.compile(r"state[ _]dict")  # in the words of torch for modules, optimizers and scalers
PREFIXES = ("module.", "_orig_mod.", "model.", "net.", "backbone.")


class StateDictMismatch(Check, frozen=True):
    """load_state_dict refuses a saved state.

    What it catches
        Weights saved through DataParallel or torch.compile (a prefix on every name), another number of classes, another
        optimizer or other parameter groups than at the save.
    Why it matters
        torch lists names; that they all differ by one prefix, or that one head differs, is the thing to know.
    How it decides
        The exception, where it speaks of a state (a damaged file or a full memory within the load is another matter);
        missing and unexpected names are compared after taking away the prefixes that wrappers add.
    What to do
        Save and load the unwrapped model; build the model as it was saved.
    Example
        step 0, rank 0: the saved state and Net differ in names by the prefix `module.` (8 of 8); expected the names of
        the model it is loaded into. Save model.module.state_dict(), or strip the prefix.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "save and load the unwrapped model: model.module.state_dict(), model._orig_mod.state_dict()",
        "build model and optimizer as they were at the save",
    )
    proved_by: ClassVar[str] = "rollback/wrapped_weights"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield an error when the program died of a state that does not fit."""
        for crash in window.new(Crash):
            if "load_state_dict" in crash.torch_calls and refused(crash):
                yield self.finding(
                    window,
                    "error",
                    f"{difference(crash.message)}. {advice(crash.message)}",
                    ref=crash.ref,
                    place=Place(frame=crash.frames[0] if crash.frames else None),
                )


def refused(crash: Crash) -> bool:
    """Whether the exception is of a state that does not fit; others come out of a load as well (a damaged file read
    within it, no memory for the copy)."""
    if crash.error == "KeyError":
        return True
    return crash.error in ("RuntimeError", "ValueError") and bool(STATE.search(crash.message))


def keys(message: str, word: str) -> list[str]:
    """The names after `Missing key(s)` or `Unexpected key(s)`."""
    part = message.partition(f"{word} key(s) in state_dict:")[2].split("key(s)")[0].split("size mismatch")[0]
    return KEYS.findall(part)


def prefix_of(message: str) -> str | None:
    """The prefix that makes missing and unexpected names equal."""
    missing, unexpected = keys(message, "Missing"), keys(message, "Unexpected")
    for prefix in PREFIXES:
        if missing and (
            {prefix + name for name in missing} <= set(unexpected)
            or {prefix + name for name in unexpected} == set(missing)
        ):
            return prefix
    return None


def difference(message: str) -> str:
    """What differs, in one sentence without its end."""
    missing, unexpected, sizes = keys(message, "Missing"), keys(message, "Unexpected"), SIZES.findall(message)
    prefix = prefix_of(message)
    if prefix:
        return (
            f"the saved names and those of the model differ by the prefix `{prefix}` "
            f"({counted(len(missing), 'name')}); expected the names of the model"
        )
    parts = [f"{name} is ({saved}) in the saved state and ({now}) in the model" for name, saved, now in sizes[:2]]
    parts += (
        [
            (
                f"{counted(len(missing), 'name')} {'is' if len(missing) == 1 else 'are'} missing "
                f"({missing[0]}{', ...' * (len(missing) > 1)})"
            )
        ]
        if missing
        else []
    )
    parts += (
        [
            (
                f"{len(unexpected)} {'is' if len(unexpected) == 1 else 'are'} unexpected "
                f"({unexpected[0]}{', ...' * (len(unexpected) > 1)})"
            )
        ]
        if unexpected
        else []
    )
    return (
        "the saved state does not fit: " + "; ".join(parts) if parts else message.splitlines()[0].rstrip(".")
    ) + "; expected the state of the same model"


def advice(message: str) -> str:
    """Say what to do next about a refused state."""
    return (
        "Save the unwrapped model, or strip the prefix."
        if prefix_of(message)
        else "Build the model and the optimizer as they were at the save."
    )
