"""Is the logged gradient norm the one before clipping?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import CLIP_RATIO, Window

# else a norm of something: features of length 1 stand at max_norm=1
PLAIN = frozenset({"norm", "gnorm", "gn", "total_norm"})
MEANT = ("clip", "post", "after")


class PostclipNorm(Check, frozen=True):
    """The logged gradient norm is the one after clipping.

    What it catches
        The norm is computed from the gradients after clip_grad_norm_ instead of taken from what it returns.
    Why it matters
        The curve never exceeds max_norm: exploding gradients cannot be seen in it.
    How it decides
        `logs` values of a name were equal to max_norm (to 0.1 %) while the norm before clipping was larger, and no
        value was above it. The name speaks of a gradient or of a norm of nothing else, or three values of updates that
        were not clipped are the norm itself. Silent for a name that says it (clip, post, after), for a constant, and
        when the norm before clipping is logged too. Loud when the norm reached `times` times the limit, else a note.
    What to do
        Log the return value: norm = clip_grad_norm_(parameters, max_norm).
    Example
        step 42, rank 0: train/grad_norm (train.py:35) was 2 (max_norm) in 42 logs while the norm before clipping
        (train.py:31) was up to 11.3; expected that one in the log. Log what clip_grad_norm_ returns.
    """

    needs: ClassVar[tuple[type[Logged] | type[ClipLimit] | str, ...]] = (Logged, ClipLimit, CLIP_RATIO)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "log_postclip_norm"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "log the return value: norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm)",
    )
    proved_by: ClassVar[str] = "logging/calm_norm"

    logs: int = 10  # values at the limit (ours)
    plain: int = 3  # values of updates that were not clipped, for a name that says nothing (ours)
    close: float = 1e-3  # relative difference; torch divides by norm + 1e-6 (ours)
    clipped: float = 1.05  # norm / limit of an update that counts as clipped (ours)
    times: float = 5.0  # norm / limit from which the curve hides an explosion: a warning (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once a name: at the first norm that is far above the limit, else at the end."""
        memory = window.memory(self)
        ratios, limit = memory.setdefault("ratios", {}), window.last(ClipLimit)
        now = window.now(CLIP_RATIO)
        if now is not None:
            ratios[window.ref.step] = now
            ratios.pop(window.ref.step - 64, None)
        names = memory.setdefault("names", {})
        if limit is None:
            return
        for fact in window.new(Logged):
            # logged before or after the update
            near = [ratios[step] for step in (fact.ref.step, fact.ref.step - 1) if step in ratios]
            if near:
                counts = names.setdefault(
                    (fact.source, fact.name),
                    {"hits": 0, "plain": 0, "values": set(), "worst": 0.0, "over": False, "told": False},
                )
                counts["fact"] = fact
                self.compare(memory, counts, as_float(fact.value) / limit.limit, near)
        for counts in names.values():
            if (window.ended or counts["worst"] >= self.times) and self.fires(memory, counts):
                counts["told"] = True
                yield self.describe(window, limit, counts)

    def compare(self, memory: dict[Any, Any], counts: dict[str, Any], value: float, near: list[float]) -> None:
        """Count one logged value as a share of the limit, beside the norms of the two updates it may belong to."""
        is_norm = any(abs(value - ratio) <= self.close * ratio for ratio in near)
        if min(near) > self.clipped:
            at_limit = abs(value - 1) <= self.close
            memory["whole"] = memory.get("whole", False) or (is_norm and not at_limit)
            counts["over"] = counts["over"] or not at_limit
            counts["hits"] += at_limit
            counts["worst"] = max(counts["worst"], min(near)) if at_limit else counts["worst"]
            if len(counts["values"]) < 2:
                counts["values"].add(value)
        else:
            counts["over"] = counts["over"] or value > 1 + self.close
            counts["plain"] += is_norm and max(near) < 1

    def fires(self, memory: dict[Any, Any], counts: dict[str, Any]) -> bool:
        """True for a series often at the limit and never above it, no constant, and a norm by its name or its other
        values."""
        name = counts["fact"].name.lower()
        if (
            counts["told"]
            or counts["over"]
            or memory.get("whole")
            or counts["hits"] < self.logs
            or counts["values"] == {1.0}
            or any(word in name for word in MEANT)
        ):
            return False
        return counts["plain"] >= self.plain or "grad" in name or name.rpartition("/")[2] in PLAIN

    def describe(self, window: Window, limit: ClipLimit, counts: dict[str, Any]) -> Finding:
        """The line that logs."""
        fact: Logged = counts["fact"]
        worst = counts["worst"] * limit.limit
        return self.finding(
            window,
            "warning" if counts["worst"] >= self.times else "note",
            f"{fact.name}{spot(fact.frame)} was {limit.limit:.4g} (max_norm) in {counts['hits']} logs while the norm "
            f"before clipping{spot(limit.frame)} "
            f"was up to {worst:.3g}; expected that one in the log. Log what clip_grad_norm_ returns.",
            ref=fact.ref,
            place=Place(frame=fact.frame or limit.frame),
            largest=worst,
            limit=limit.limit,
        )
