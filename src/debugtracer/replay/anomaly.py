"""The step once more under torch's anomaly mode: what torch itself says of a NaN in the backward, to be quoted beside
our own birth."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import OUR_HOME
from debugtracer.callsites.notebook_cells import file_of
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan

SAID = re.compile(r"Function '\w+' returned nan values in its \d+\w\w output")
FORWARD = re.compile(r'^  File "([^"\n]+)", line (\d+), in ', re.MULTILINE)


def torch_says(plan: ReplayPlan, backward: Callable[..., Any]) -> str:
    """Return torch's sentence with the forward line of its traceback; "" where anomaly mode finds nothing (no Inf).

    The caller rewinds and restores the world; the user's own anomaly setting is as before when it returns.
    Costs one eager step, slower as torch notes each call.
    """
    with warnings_as_text() as warned, anomaly_mode():
        try:
            Reexecution(plan, backward).run()
        except ReplayRefused as refused:
            said = SAID.search(str(refused.__cause__))
            return said[0] + called_at(warned) if said is not None else ""
    return ""


@contextlib.contextmanager
def anomaly_mode() -> Iterator[None]:
    """Enable anomaly mode without torch's remark, which the user's filters may turn into an error."""
    before = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(True, True)
    try:
        yield
    finally:
        torch.set_anomaly_enabled(*before)


@contextlib.contextmanager
def warnings_as_text() -> Iterator[list[str]]:
    """Collect all warnings of this thread as text, not shown, whatever the user's filters are."""
    filters: Any = warnings.filters
    every = ("always", None, UserWarning, None, 0)
    filters.insert(0, every)
    try:
        with quiet_warnings() as told:
            yield told
    finally:
        with contextlib.suppress(ValueError):
            filters.remove(every)


def called_at(warned: list[str]) -> str:
    """Format the user's innermost line that our replay called, `, called forward at train.py:12`; "" where unknown."""
    text = next((text for text in warned if text.startswith("Error detected in ")), "")
    stack = [(file, int(line)) for file, line in FORWARD.findall(text)]
    for file, line in reversed(stack):
        if file.startswith(OUR_HOME):
            return ""  # the loop itself called the operator: its line is not on this stack
        if is_user_file(file):
            return f", called forward at {Path(file_of(file)).name}:{line}"
    return ""
