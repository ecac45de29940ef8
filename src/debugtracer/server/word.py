"""A word to a run, from the page: written into its file `control`, where the run would obey it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.trace.store.schema import CONTROL, CONTROL_WORDS

OBEYING = ("val", "prod")


def write_control_word(run: Path, word: object, state: dict[str, Any]) -> None:
    """Write the word as a whole file. Raises UsageError with why the run would not obey it, OSError."""
    if not isinstance(word, str) or word not in CONTROL_WORDS:
        raise UsageError(f"{str(word)[:20]!a} is no word to a run; expected one of {', '.join(CONTROL_WORDS)}")
    why = refusal(state)
    if why:
        raise UsageError(why)
    temporary = run / f".{CONTROL}-{secrets.token_hex(4)}"
    temporary.write_text(word + "\n")
    os.replace(temporary, run / CONTROL)  # replaces a link, never follows it


def refusal(state: dict[str, Any]) -> str:
    """Why this run would not obey; empty where it would."""
    if state["status"] not in ("running", "paused"):
        return "the run is over: nobody reads its control file"
    if state["mode"] not in OBEYING:
        return f"a run in mode {state['mode'] or 'unknown'} takes no word; start it with --mode val or --mode prod"
    if state["ranks"] > 1:
        return "several ranks train together: they take no word"
    return ""
