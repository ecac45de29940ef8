"""Runs a program under watch and, once all rests that may, blocks of its steps bare, watched and with the least that
could be read (the floor), in turns. Started by benchmarks/programs_at_rest.py, in the environment of its run.

    DEBUG_TRACER=1 python benchmarks/rest_turns.py SETTINGS SCRIPT [ARGUMENTS]

SETTINGS is the JSON of `Wanted`. What is found is written into its file; the program does not end by itself.
"""

from __future__ import annotations

import builtins
import functools
import json
import os
import random
import runpy
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import torch
from torch.optim import Optimizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.rest_kinds import Floor, Watch

KINDS = ("bare", "watched", "floor")
STEP_ENDS = "debug_tracer_step_ends"  # what a program without an optimizer is edited to call
SETTLE = 2  # steps after a change that are not timed
SPENT_S = 100.0  # seconds put on our account at first, so that all rests
OWED_S = 20.0  # and every few seconds again, for bare steps pay nothing back
OWED_EVERY_S = 3.0
DEEP_S = 3.0  # given to the parts to rest one after the other
MOST, LONGEST_S = 256, 1.0  # steps of a block: as many as are published together (recorder/gate/resting_steps.py)
LEAST = 8


@dataclass(frozen=True)
class Wanted:
    """What a run is asked for."""

    file: str  # that the figures are written into
    warm_s: float  # under watch before all is let rest
    seconds: float  # of turns
    by_hand: bool = False  # the program writes its weights itself and calls STEP_ENDS


class Block(NamedTuple):
    """Some steps of one kind: which round, and seconds of the training thread a step."""

    round: int
    step_s: float


class Turns:
    """The blocks of one program. `step_ended` is called after each of its steps."""

    def __init__(self, session: Any, wanted: Wanted) -> None:
        self.session, self.state, self.wanted = session, session.state, wanted
        self.kind = "watched"
        self.blocks: dict[str, list[Block]] = {kind: [] for kind in KINDS}
        self.told_s, self.told_steps = 0.0, 0
        self.rest_at = perf_counter() + wanted.warm_s
        self.watch: Watch | None = None
        """What is taken away, from the first block on."""
        self.floor = Floor(None)
        self.is_spent = False
        self.quickest_s = LONGEST_S
        """The shortest step so far."""
        self.order: list[str] = []
        self.number, self.steps, self.in_block = 0, LEAST, 0
        self.begin_s = self.own_s = self.end_at = self.owed_at = 0.0
        self.key = (True, True)

    def step_ended(self) -> None:
        """Count a step of the block in flight; at its end begin the next."""
        if self.watch is None:
            self.wait_for_rest(perf_counter())
            return
        self.in_block += 1
        if self.in_block == SETTLE:
            self.own_s, self.begin_s = self.state.own_s, thread_time()
        elif self.in_block == SETTLE + self.steps:
            self.end_block(self.watch)

    def wait_for_rest(self, now: float) -> None:
        """Let all rest, and begin where it does."""
        self.quickest_s = min(self.quickest_s, self.state.step_s or LONGEST_S)
        if not self.is_spent:
            if self.state.step > 60 and now > self.rest_at:
                self.state.own_s += SPENT_S
                self.is_spent, self.rest_at = True, now + DEEP_S
        elif now > self.rest_at and self.session.events.target is self.session.events.resting:
            self.watch = Watch(self.session)
            trained = self.session.events.resting.backwards.trained.at_rest() if self.wanted.by_hand else None
            self.floor = Floor(None if trained is None else lambda: trained)
            self.steps = min(max(round(LONGEST_S / self.quickest_s), LEAST), MOST)
            self.end_at, self.owed_at, self.key = now + self.wanted.seconds, now, self.watch.key()

    def end_block(self, watch: Watch) -> None:
        """Keep the block, with what is published of it, and change to another kind."""
        if self.kind == "watched":
            watch.publish()
        step_s = (thread_time() - self.begin_s) / self.steps
        if self.key == watch.key():  # else something began to work in it
            self.blocks[self.kind].append(Block(self.number // len(KINDS), step_s))
            if self.kind == "watched":
                self.told_s, self.told_steps = self.told_s + self.state.own_s - self.own_s, self.told_steps + self.steps
        now = perf_counter()
        if now > self.end_at:
            self.report()
        self.number += 1
        self.order = self.order or random.sample(KINDS, len(KINDS))
        self.change(watch, self.order.pop())
        if self.kind == "watched" and now > self.owed_at:
            self.state.own_s, self.owed_at = self.state.own_s + OWED_S, now + OWED_EVERY_S
        self.in_block, self.key = 0, watch.key()

    def change(self, watch: Watch, kind: str) -> None:
        """Take away what the last kind needs and put in place what this one does."""
        watch.touch()
        if kind == self.kind:
            return
        if self.kind == "watched":
            watch.leave()
        elif self.kind == "floor":
            self.floor.leave()
        if kind == "watched":
            watch.come_back()
            self.session.governor.resume()
        elif kind == "floor":
            self.floor.come()
        self.kind = kind

    def report(self) -> None:
        """Write what was found, and end the process: the reports at the end of a run are not what is measured."""
        found = figures(self.blocks) | {
            "own_us": round(1e6 * self.told_s / max(self.told_steps, 1), 1),
            "left_out": self.session.events.resting.steps.leaves_out,
            "steps": self.steps,
            "deep": self.session.events.calls.rests,
        }
        Path(self.wanted.file).write_text(json.dumps(found))
        os._exit(0)


def figures(blocks: dict[str, list[Block]]) -> dict[str, Any]:
    """Microseconds of a bare step, and of the other kinds the median of the ratios of blocks in the same round, its
    quartiles and the interval of that median (of 400 samples of the rounds, nineteen in twenty)."""
    bare = {block.round: block.step_s for block in blocks["bare"]}
    found: dict[str, Any] = {"bare_us": round(1e6 * statistics.median(bare.values()), 1)}
    for kind in KINDS[1:]:
        ratios = [block.step_s / bare[block.round] for block in blocks[kind] if block.round in bare]
        if len(ratios) < 2:
            sys.exit(f"{kind} - {len(ratios)} rounds at rest - expected 2 at least - give it more seconds")
        medians = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(400))
        found[kind] = {
            "ratio": round(statistics.median(ratios), 4),
            "quartiles": [round(q, 4) for q in statistics.quantiles(ratios, n=4)[::2]],
            "interval": [round(medians[10], 4), round(medians[-11], 4)],
            "rounds": len(ratios),
        }
    return found


def stepping(turns: Turns, ours: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What torch hooks step functions with: the step of the kind whose turn it is, then its end."""

    def hook(function: Any) -> Any:
        hooked = ours(function)
        original = getattr(hooked, "debug_tracer_original", function)

        @functools.wraps(hooked)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if turns.kind == "floor":
                done = turns.floor.step(optimizer, original, args, kwargs)
            else:
                done = (hooked if turns.kind == "watched" else original)(optimizer, *args, **kwargs)
            turns.step_ended()
            return done

        for name in ("debug_tracer_original", "debug_tracer_step"):
            step.__dict__.pop(name, None)
        return step

    return hook


def main(arguments: list[str]) -> None:
    """Run the program; it ends when it was measured for long enough."""
    from debugtracer import session

    wanted = Wanted(**json.loads(arguments[0]))
    sys.argv = arguments[1:]
    torch.set_num_threads(1)
    turns = Turns(session.active(), wanted)
    setattr(builtins, STEP_ENDS, turns.step_ended)
    if not wanted.by_hand:
        hook: Any = stepping(turns, Optimizer.profile_hook_step)
        Optimizer.profile_hook_step = staticmethod(hook)  # type: ignore[method-assign]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit(
        f"{sys.argv[0]} - ended by itself - expected steps for {wanted.seconds:g} s at rest - give it more of them"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
