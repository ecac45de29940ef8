"""A launcher repeats the exception of the rank that died; where that rank has told it itself, once is enough."""

from __future__ import annotations

import os
import re
from pathlib import Path

from debugtracer.recorder.output.run_folder import RUN_DIR
from debugtracer.trace.last_words import LAST_WORDS, last_words

RELAYED = re.compile(r"^-- Process \d+ terminated with the following error:", re.M)  # of torch.multiprocessing


def told_by_its_rank(error: BaseException) -> bool:
    """True for an exception that a launcher was sent by a process which has written it down. Reads small files."""
    run = os.environ.get(RUN_DIR)
    if not run or RELAYED.search(str(error)) is None:
        return False
    said = [last_words(file.read_text(errors="replace")) for file in Path(run).glob(f"rank=*/{LAST_WORDS}")]
    return any(words is not None and words.how == "crashed" for words in said)
