"""Does each rank expect what the others send to it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.device.collective_mismatch import left_alone
from debugtracer.trace.birth import Frame
from debugtracer.trace.exchange import unequal
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.standing import Standing
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ExchangeSizes(Check, frozen=True):
    """Ranks exchange tensors, and one expects another number of elements than the other sends.

    What it catches
        An all_to_all of a mixture of experts or a sharded table whose sizes each rank computes of its own batch: its
        own longest text, its own capacity.
    Why it matters
        NCCL hangs until a timeout of many minutes, gloo aborts the process, and nothing names the sizes.
    How it decides
        Before each `all_to_all` and `all_to_all_single` a rank writes down how many elements it sends to each other
        rank and how many it expects of each. When a run ends or stands and at least one rank was left alone in a
        collective, the last calls of all ranks are compared: the same number of call, of the same group, with another
        size on both sides is exact, for such an exchange cannot succeed.
    What to do
        Let the ranks agree first: exchange the sizes themselves (`all_to_all_single(expected, sizes)`), or take the
        largest of all ranks (`all_reduce` with MAX) and pad to it.
    Example
        step 12, rank 0: in call 24 of all_to_all_single (train.py:19) rank 1 sends 128 elements to rank 0, which
        expects 96; expected the same on both sides. Exchange the sizes first, or pad to the largest of all ranks.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (Standing,)
    kind: ClassVar[str] = "ddp_desync"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "exchange the sizes first: all_to_all_single(expected, sizes), then allocate what is expected",
        "or take the largest size of all ranks: all_reduce(size, op=ReduceOp.MAX), and pad to it",
    )
    proved_by: ClassVar[str] = "device/ferry_parcels"

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Compare the last exchanges of all ranks that wrote where they stood."""
        stands = {rank: stand for rank, window in windows.items() if (stand := window.last(Standing)) is not None}
        found = unequal({rank: stand.exchanges for rank, stand in stands.items()})
        left = [rank for rank, stand in stands.items() if left_alone(stand)]
        if found is None or not left:
            return
        frame = Frame(found.at.file, found.at.line, "", "") if found.at.file else None
        frame = next((s.frame for s in stands.values() if s.frame is not None and is_at(s.frame, frame)), frame)
        yield self.finding(
            windows[min(left)],
            "error",
            f"in call {found.at.number} of {found.at.call}{spot(frame)} rank {found.sender} sends {found.sent} "
            f"elements to rank {found.receiver}, which expects {found.expected}; expected the same on both sides. "
            "Exchange the sizes first, or pad to the largest of all ranks.",
            ref=stands[min(left)].ref,
            place=Place(frame=frame),
        )


def is_at(one: Frame, other: Frame | None) -> bool:
    """Whether two frames are one line."""
    return other is not None and (one.file, one.line) == (other.file, other.line)
