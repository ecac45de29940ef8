"""Do all ranks stand in the same collective?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.collective import LEAVES, POINT_TO_POINT
from debugtracer.trace.exchange import unequal
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.standing import Standing
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

LEFT_ALONE = re.compile(
    r"Timed out waiting \d+ms for (?:recv|send)|Connection closed by peer|Connection reset by peer|collective "
    r"mismatch|mismatch between collectives|"
    r"ran into timeout|collective operation timeout|DistBackendError|Broken pipe"
)
"""What c10d raises on a rank that the others do not meet (gloo, NCCL, TORCH_DISTRIBUTED_DEBUG=DETAIL)."""


class CollectiveMismatch(Check, frozen=True):
    """Ranks stand in different collectives, or one is in none: they wait for each other for ever.

    What it catches
        Ranks with unlike numbers of batches, a collective below `if rank == 0`, a rank that left the loop or the
        program.
    Why it matters
        The job hangs until a timeout of many minutes, and the exception of c10d names neither the rank that is missing
        nor the line where it is.
    How it decides
        Each rank keeps the line and the collective in which it waited more than 10 s, died or was killed. A finding
        when at least one was left alone by the others (a timeout or a closed connection of c10d, an abort inside a
        collective, or a wait that goes on) and they do not all stand in the same collective at the same line. Silent
        when any rank died of an exception of its own, for then the others only follow, and for send and recv, which
        need not agree.
    What to do
        Give all ranks the same number of batches, or use Join; take collectives out of branches that not all ranks
        take.
    Example
        step 6, rank 0: rank 0 stands in backward at train.py:21 after 6 updates, rank 1 in barrier at train.py:29 after
        6 updates; expected all ranks in the same collective. Give each rank as many batches as the others, and take no
        branch with a collective on some ranks only.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (Standing,)
    kind: ClassVar[str] = "ddp_desync"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "give each rank the same number of batches (DistributedSampler does), or wrap the loop in `with "
            "Join([model]):`"
        ),
        "take collectives (all_reduce, barrier, a forward or backward of DDP) out of branches that not all ranks take",
    )
    proved_by: ClassVar[str] = "device/ddp_uneven_batches"

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Compare all ranks that wrote where they stood."""
        stands = {rank: stand for rank, window in windows.items() if (stand := window.last(Standing)) is not None}
        if len(stands) < 2 or any(of_its_own(s) or s.call in POINT_TO_POINT for s in stands.values()):
            return
        if unequal({rank: stand.exchanges for rank, stand in stands.items()}) is not None:
            return  # device/exchange-sizes says more
        left = {rank: s for rank, s in stands.items() if left_alone(s)}
        places = grouped(stands)
        if left and len(places) > 1:
            yield self.describe(
                windows[min(left)],
                stands,
                places,
                "error" if any(s.how != "waits" for s in left.values()) else "warning",
            )

    def describe(
        self, window: Window, stands: Mapping[int, Standing], places: list[list[int]], severity: Severity
    ) -> Finding:
        """Build the finding with each place once, placed at the side with fewer ranks, for it did what the others did
        not."""
        sides = [where(stands[ranks[0]]) for ranks in places]
        others = ", ".join(f"{ranks_of(ranks)} {side}" for ranks, side in zip(places[1:], sides[1:], strict=True))
        said = f"{ranks_of(places[0], 'stands', 'stand')} {sides[0]}, {others}"
        odd = [stands[ranks[0]] for ranks in sorted(places, key=lambda ranks: (len(ranks), weight(stands[ranks[0]])))]
        frames = [stand.frame for stand in odd if stand.frame is not None]
        return self.finding(
            window,
            severity,
            f"{said}; expected all ranks in the same collective. Give each rank as many batches as the others, and "
            "take no branch with a collective on "
            "some ranks only.",
            ref=min((s.ref for s in stands.values() if left_alone(s)), key=lambda ref: ref.rank),
            place=Place(frame=frames[0] if frames else None, symptom_frame=frames[-1] if frames else None),
            exact=severity == "error",
            places=len(places),
        )


def of_its_own(stand: Standing) -> bool:
    """Whether the rank died of another reason than missing ranks, or was stopped by us; the others then wait because of
    it."""
    return stand.how == "stopped" or (stand.how == "crashed" and not LEFT_ALONE.search(stand.message))


def left_alone(stand: Standing) -> bool:
    """Whether the rank stands or died in a collective because others were missing."""
    if not stand.call or stand.call == LEAVES:
        return False
    return stand.how in ("crashed", "waits") or (stand.how == "killed" and "Abort" in stand.message)


def grouped(stands: Mapping[int, Standing]) -> list[list[int]]:
    """The ranks grouped by the place they stand in, in order of the lowest."""
    groups: dict[object, list[int]] = {}
    for rank in sorted(stands):
        stand = stands[rank]
        key = (
            ("ended",)
            if stand.how == "ended"
            else (stand.call, stand.frame.file, stand.frame.line)
            if stand.frame
            else (stand.call,)
        )
        groups.setdefault(key, []).append(rank)
    return list(groups.values())


def weight(stand: Standing) -> int:
    """Rank the evidence of a side: a collective called by name before a backward or forward, that before no place at
    all."""
    return (
        2 if stand.frame is None else 1 if stand.call.startswith(("backward", "forward", "Distributed", LEAVES)) else 0
    )


def ranks_of(ranks: list[int], one: str = "", several: str = "") -> str:
    """Format ranks with their verb: `rank 3 stands`, `ranks 0, 1, 2 and 5 more stand`."""
    more = f" and {len(ranks) - 3} more" if len(ranks) > 3 else ""
    said = f"rank {ranks[0]} {one}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks[:3]))}{more} {several}"
    return said.strip()


def where(stand: Standing) -> str:
    """Say in which call and line a side stands, and after how many updates."""
    done = "" if stand.updates is None else f" after {stand.updates} update{'' if stand.updates == 1 else 's'}"
    if stand.how == "ended":
        return f"at the end of its program{done}"
    line = f" at {stand.frame.file.rsplit('/', 1)[-1]}:{stand.frame.line}" if stand.frame else ""
    return f"{f'in {stand.call}' if stand.call else 'in no collective'}{line}{done}"
