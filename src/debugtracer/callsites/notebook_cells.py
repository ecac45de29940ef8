"""Cells of a notebook: the file of their code has a made-up name, people know them as In[3]. A cell that was edited and
run again is another file."""

from __future__ import annotations

import linecache
import os
import sys
from typing import Any

CELLS = ("<ipython-input-", "<timed ")  # names of code without a file: cells of a terminal, and cells under %%time

_ids: dict[int, str] = {}  # number of a run of a cell -> identity of the cell, where the front end gives it
_newest: dict[str, int] = {}  # identity of a cell -> number of its last run


def shell() -> Any:
    """Return IPython's shell of this process, None elsewhere. Imports nothing."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return find() if find is not None else None


def file_of(name: str) -> str:
    """The file of a code object as a Frame names it: an absolute path, or the cell by the number at which its text was
    last run."""
    return cell_of(name) or (name if name.startswith("<") else os.path.abspath(name))


def cell_of(name: str) -> str:
    """Return `In[3]` for IPython's file name of a cell, "" for others; its text can then be read by either name."""
    known = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    label = known(name) if known is not None else None
    if not label or not label[1].startswith("In["):
        return ""
    text = linecache.cache.get(name)
    if text is not None and len(text) > 1:
        linecache.cache[label[1]] = (text[0], None, text[2], label[1])  # no time: nobody looks for it on the disk
    return str(label[1])


def ran(number: int | None, identity: str | None) -> None:
    """Note that a cell has run as In[number]."""
    if number and identity:
        _ids[number] = identity
        _newest[identity] = number


def edited(file: str) -> str:
    """What to know of a line in `In[3]` whose cell was run again with other text: the object that ran is of the old
    one. "" where it is not so."""
    number = int(file[3:-1]) if file.startswith("In[") and file[3:-1].isdigit() else 0
    newest = _newest.get(_ids.get(number, ""), number)
    if newest == number:
        return ""
    return (
        f"{file} has been edited and run again as In[{newest}], but the object that ran here was made by the old text: "
        "make it again"
    )
