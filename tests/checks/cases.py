"""Stored cases of checks: what a check is shown, call by call, and what it answered; `tests/checks/cases/`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from debugtracer.checks.check import CLOSEST, Check
from debugtracer.trace.facts.fact import Fact, from_plain, to_plain
from debugtracer.trace.finding import Finding
from debugtracer.trace.nearness import Nearness
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import DEPTH, Window
from tests.calls import NUMBER

FOLDER = Path(__file__).with_name("cases")


@dataclass
class Call:
    """One window in the order of a run: the facts that came with it, and the values that its series grew by."""

    ref: StepRef
    new: list[Fact] = field(default_factory=list)
    older: list[Fact] = field(default_factory=list)
    series: dict[str, list[float]] = field(default_factory=dict)
    fresh: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    skipped: int = 0
    ranks: dict[int, Call] | None = None
    """The windows that `judge_ranks` is shown at once, instead of one for `judge`."""


@dataclass
class Known:
    """What has come up to a call."""

    facts: dict[type[Fact], list[Fact]] = field(default_factory=dict)
    series: dict[str, list[float]] = field(default_factory=dict)
    memories: dict[str, dict[Any, Any]] = field(default_factory=dict)

    def window(self, call: Call) -> Window:
        """The window of the next call."""
        came: dict[type[Fact], int] = {}
        for fact in (*call.older, *call.new):
            kept = self.facts.setdefault(type(fact), [])
            kept.append(fact)
            del kept[: -type(fact).KEEP]
        for fact in call.new:
            came[type(fact)] = came.get(type(fact), 0) + 1
        for name, values in call.series.items():
            self.series[name] = (self.series.get(name, []) + values)[-DEPTH:]
        return Window(
            call.ref, self.series, frozenset(call.fresh), frozenset(call.flags), call.bad, self.facts, came,
            self.memories, call.skipped,
        )  # fmt: skip


def asked(check: Check, calls: list[Call]) -> tuple[list[Finding], Nearness | None]:
    """What a check finds in these windows, and how close it came."""
    known = Known()
    found: list[Finding] = []
    for call in calls:
        if call.ranks is None:
            found += check.judge(known.window(call))
        else:
            found += check.judge_ranks({rank: Known().window(one) for rank, one in call.ranks.items()})
    return found, known.memories.get(CLOSEST, {}).get(check.slug)


def answer(check: Check, calls: list[Call]) -> dict[str, Any]:
    """The same as plain values: all but the words, of which the numbers are kept."""
    found, closest = asked(check, calls)
    told: dict[str, Any] = {"found": [plain(finding) for finding in found]}
    if closest is not None:
        told["closest"] = [closest.value, closest.limit, closest.step, closest.below]
    return told


def plain(finding: Finding) -> dict[str, Any]:
    """A finding without its words."""
    ref = (finding.iteration, finding.step, finding.rank)
    told: dict[str, Any] = {
        "is": [finding.severity, finding.kind, finding.exact, finding.confidence, finding.symptom],
        "at": list(ref),
        "numbers": [float(text.replace(",", "")) for text in NUMBER.findall(finding.message.partition(": ")[2])],
    }
    place = {name: value for name, value in msgspec.to_builtins(finding.place).items() if value is not None}
    for name in ("frame", "symptom_frame"):
        if name in place:
            place[name] = place[name]["line"]
    told |= {"evidence": dict(finding.evidence)} if finding.evidence else {}
    return told | ({"place": place} if place else {})


def flat(value: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a plain fact by their dotted names."""
    for name, inner in value.items():
        if isinstance(inner, dict) and inner and all("." not in key for key in inner):
            yield from flat(inner, f"{at}{name}.")
        else:
            yield f"{at}{name}", inner


def changed(value: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A plain fact with other leaves, by their dotted names."""
    value = json.loads(json.dumps(value))
    for name, inner in changes.items():
        *path, last = name.split(".")
        place = value
        for part in path:
            place = place[part]
        place[last] = inner
    return value


def change(base: dict[str, Any], value: dict[str, Any]) -> dict[str, Any] | None:
    """The leaves by which a plain fact differs from another one; None where they are not of one shape."""
    was, now = dict(flat(base)), dict(flat(value))
    changes = {name: now[name] for name in now if name not in was or json.dumps(was[name]) != json.dumps(now[name])}
    try:
        return changes if json.dumps(changed(base, changes)) == json.dumps(value) else None
    except (KeyError, TypeError):
        return None


def written(ref: StepRef) -> Any:
    """A step: a number, or what else there is to say of it."""
    usual = StepRef(iteration=ref.step, step=ref.step)
    return ref.step if ref == usual else msgspec.to_builtins(ref)


def read(ref: Any) -> StepRef:
    """The step that was written."""
    return StepRef(iteration=ref, step=ref) if isinstance(ref, int) else msgspec.convert(ref, StepRef)


def joined(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Windows of consecutive steps that bring a value of the same series each, as one."""
    found: list[dict[str, Any]] = []
    for call in calls:
        plain = {"at", "series", "fresh"} == call.keys() and isinstance(call["at"], int)
        if plain and all(len(values) == 1 for values in call["series"].values()):
            steps = call | {"steps": 1}
            last = found[-1] if found else {}
            if (
                last.get("steps")
                and last["at"] + last["steps"] == call["at"]
                and sorted(last["fresh"]) == sorted(call["fresh"])
                and last["series"].keys() == call["series"].keys()
            ):
                series = {name: values + call["series"][name] for name, values in last["series"].items()}
                found[-1] = last | {"steps": last["steps"] + 1, "series": series}
            else:
                found.append(steps)
        else:
            found.append(call)
    return found


def apart(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The windows that were joined."""
    return (
        [
            {
                "at": told["at"] + number,
                "series": {name: [values[number]] for name, values in told["series"].items()},
                "fresh": told["fresh"],
            }
            for number in range(told["steps"])
        ]
        if "steps" in told
        else [told]
    )


class Cases:
    """The cases of one check as they are stored: facts once, then where they come and what differs."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.path = FOLDER / (slug.replace("-", "_") + ".json")
        self.facts: list[tuple[str, dict[str, Any]]] = []
        self.lines: list[dict[str, Any]] = []

    def load(self) -> Cases:
        """Read the file; without one there are no cases."""
        if self.path.exists():
            kept = json.loads(self.path.read_text())
            self.facts, self.lines = [tuple(fact) for fact in kept["facts"]], kept["cases"]
        return self

    def save(self) -> None:
        """Write the file, a line for each fact and case."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        facts = ",\n".join(json.dumps(fact) for fact in self.facts)
        lines = ",\n".join(json.dumps(line) for line in self.lines)
        self.path.write_text(f'{{"facts": [\n{facts}\n],\n"cases": [\n{lines}\n]}}\n')

    def add(self, check: Check, calls: list[Call]) -> None:
        """A further case, with what the check answers today."""
        options = {
            name: value
            for name, value in msgspec.structs.asdict(check).items()
            if value != getattr(type(check)(), name)
        }
        line = {"options": options} if options else {}
        told = joined([self.packed(call) for call in calls])
        self.lines.append(line | {"calls": told} | answer(check, calls))

    def packed(self, call: Call) -> dict[str, Any]:
        """A call as plain values, without what it has not."""
        told: dict[str, Any] = {"at": written(call.ref)}
        if call.ranks is not None:
            return told | {"ranks": {str(rank): self.packed(one) for rank, one in call.ranks.items()}}
        told |= {name: [self.stored(fact) for fact in getattr(call, name)] for name in ("new", "older")}
        told |= {"series": call.series, "fresh": call.fresh, "flags": call.flags, "bad": call.bad}
        told |= {"skipped": call.skipped}
        return {name: value for name, value in told.items() if value or name == "at"}

    def stored(self, fact: Fact) -> Any:
        """The number of a fact, and what differs from it."""
        word, value = fact.word(), json.loads(json.dumps(to_plain(fact)))
        value["ref"] = written(fact.ref)
        near = [
            (len(json.dumps(changes)), number, changes)
            for number, (other, base) in enumerate(self.facts)
            if other == word and (changes := change(base, value)) is not None
        ]
        size, number, changes = min(near, default=(10**9, 0, {}), key=lambda one: one[:2])
        if size > 0.6 * len(json.dumps(value)):
            self.facts.append((word, value))
            return len(self.facts) - 1
        return [number, changes] if changes else number

    def unpacked(self, told: Mapping[str, Any]) -> Call:
        """The call that was stored."""
        call = Call(read(told["at"]), skipped=told.get("skipped", 0))
        call.new, call.older = ([self.fact(one) for one in told.get(name, ())] for name in ("new", "older"))
        call.series = told.get("series", {})
        call.fresh, call.flags, call.bad = (tuple(told.get(name, ())) for name in ("fresh", "flags", "bad"))
        if "ranks" in told:
            call.ranks = {int(rank): self.unpacked(one) for rank, one in told["ranks"].items()}
        return call

    def fact(self, told: Any) -> Fact:
        """The fact that was stored."""
        number, changes = (told, {}) if isinstance(told, int) else told
        word, value = self.facts[number]
        value = changed(value, changes)
        fact = from_plain(word, value | {"ref": msgspec.to_builtins(read(value["ref"]))})
        assert fact is not None, word
        return fact

    def check(self, line: Mapping[str, Any], check: Check) -> Check:
        """The check with the options of a case."""
        return msgspec.structs.replace(check, **line.get("options", {}))

    def calls(self, line: Mapping[str, Any]) -> list[Call]:
        """The windows of a case."""
        return [self.unpacked(call) for told in line["calls"] for call in apart(told)]

    def answered(self, check: Check) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Each case with what the check answers today."""
        for line in self.lines:
            yield line, json.loads(json.dumps(answer(self.check(line, check), self.calls(line))))
