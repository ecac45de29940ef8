"""The words for each of the seven layers: what fired and how often, silent, or why it is not known."""

from __future__ import annotations

from collections import Counter

from debugtracer.trace.counted import counted
from debugtracer.trace.events import Judged, RankEnded
from debugtracer.trace.finding import LAYERS, Finding, grave
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.words.log_read import LogRead

MOST = 4  # checks named in a row
ABSENT = {
    "data": "no batch of a DataLoader was seen",
    "model": "no call of a model was seen",
    "optimizer": "no update was seen",
    "device": "nothing of several ranks or devices was seen",
    "numerics": "nothing in half precision was seen, and every number was finite",
    "logging": "nothing was logged that its checks read",
    "rollback": "no checkpoint was saved or loaded",
}

UNTOLD = "what was asked is told when a run ends; this one still runs, or was killed"


def layer_states(trace: Trace, found: list[Finding], verdict: Verdict | None, log: LogRead | None) -> dict[str, str]:
    """Describe the state of each layer in one phrase."""
    events = trace.events()
    judged = [event for event in events if isinstance(event, Judged)]
    ended = list({event.rank: event for event in events if isinstance(event, RankEnded)}.values())  # their last words
    told = {f.check for f in found}
    asked = {slug for event in judged for slug in event.asked} | told
    fed = {slug for event in judged for slug in (event.asked if event.fed is None else event.fed)} | told
    lacking = {slug: what for event in judged for slug, what in event.unseen.items()}
    for slug in [s for s in lacking if s in told or any(s not in e.unseen for e in judged if e.asked)]:
        del lacking[slug]  # some rank could ask it
    seen = any(event.iterations for event in ended) or bool(found) or verdict is not None
    blind = f"the log holds only {log.names}" if log is not None else "" if seen else "no training step was seen"
    if log is None and not judged and not any(event.final for event in ended):
        blind = UNTOLD
    still = bool(ended) and log is None and all(event.own_updates == 0 for event in ended if event.iterations)
    return {
        layer: state(
            layer,
            found,
            verdict,
            asked - lacking.keys(),
            fed if seen and not (still and layer == "optimizer") else set(),
            f"not measurable: {blind or ABSENT[layer]}",
            lacking,
        )
        for layer in LAYERS
    }


def state(
    layer: str,
    found: list[Finding],
    verdict: Verdict | None,
    asked: set[str],
    fed: set[str],
    blind: str,
    lacking: dict[str, str],
) -> str:
    """The words for one layer; `blind` where no check got what it needs."""
    mine = [f for f in found if f.layer == layer]
    loud = [f for f in mine if f.severity != "note"]
    if loud:
        return f"fired: {named(loud)}"
    if verdict is not None and verdict.layer == layer:
        return "fired: the verdict" + (f" ({verdict.kind})" if verdict.kind else "")
    if not any(slug.startswith(f"{layer}/") for slug in fed):
        return blind
    count = counted(sum(slug.startswith(f"{layer}/") for slug in asked), "check")
    notes = f" but for {counted(len(mine), 'note')}" if mine else ""
    return f"silent{notes} ({count} asked{unmeasured(layer, lacking)})"


def unmeasured(layer: str, lacking: dict[str, str]) -> str:
    """Format how many checks of a layer could not be asked, by what the run does not have."""
    counts = Counter(what for slug, what in lacking.items() if slug.startswith(f"{layer}/"))
    parts = [f"{count} without {what}" for what, count in counts.most_common()]
    return f"; not measurable: {', '.join(parts)}" if parts else ""


def named(loud: list[Finding]) -> str:
    """Format findings by check, the gravest first: `zero-grad-missing (1 error), exploding-grad (2 warnings)`."""
    counts = Counter((f.check, f.severity) for f in loud)
    each: dict[str, list[str]] = {}
    for (check, severity), count in sorted(counts.items(), key=lambda item: -grave(item[0][1])):
        each.setdefault(check.rpartition("/")[2], []).append(counted(count, severity))
    told = [f"{check} ({', '.join(words)})" for check, words in each.items()]
    return ", ".join(told[:MOST]) + (f" and {len(told) - MOST} more" if len(told) > MOST else "")
