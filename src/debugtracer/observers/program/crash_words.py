"""What the text of an exception says by itself, by the table that reads logs."""

from __future__ import annotations

import traceback

from debugtracer.errors import guarded
from debugtracer.trace.facts.crash import KnownWords

MOST = 20_000  # characters of a traceback that are read, its end (ours)


@guarded("crash.words")
def words_of(error: BaseException) -> KnownWords | None:
    """The likeliest class for the exception as torch and the usual trainers word it; None where no known words are in
    its text."""
    # the table of words is read where a program dies, not at each start
    from debugtracer.logs.chunks import Chunk
    from debugtracer.logs.judge import CONSEQUENCES, GENERIC, SHOWN, judge
    from debugtracer.logs.scan import Scan

    scan = Scan("traceback")
    scan.feed(Chunk(1, "".join(traceback.format_exception(error))[-MOST:]))
    judged = judge(scan.finish())
    first = judged.first
    if first is None or not first.evidence:
        return None
    return KnownWords(
        kind="" if first.kind in (*GENERIC, *CONSEQUENCES) else first.kind,
        certainty=round(first.certainty, 2),
        because=first.evidence[0].partition(" (log line ")[0],
        layer=first.known.layer,
        remedies=(*first.remedies, *first.known.remedy)[:5],
        op=first.op,
        others=tuple(one.kind for one in judged.candidates[1 : 1 + SHOWN]),
    )
