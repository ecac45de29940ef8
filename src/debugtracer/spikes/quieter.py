"""A finding about the loss as a note, where something else explains it or it could not be tried."""

from __future__ import annotations

import msgspec

from debugtracer.spikes.other_data import SAID
from debugtracer.spikes.rate_search import search_told
from debugtracer.trace.finding import UNTRIED, Finding


def quieter(found: Finding, searched: float) -> Finding:
    """A finding as a note where the rate is searched for: the loss is to leave."""
    if not searched:
        return found
    return msgspec.structs.replace(found, severity="note", message=f"{found.message}{search_told(searched)}")


def elsewhere(found: Finding) -> Finding:
    """A finding as a note where another dataset is read since: it is harder by itself, or another task."""
    return msgspec.structs.replace(found, severity="note", message=found.message.partition(" Go back")[0] + SAID)


def untried(found: Finding, why: str) -> Finding:
    """The finding as a note that says what was not tried."""
    said = f" Not tried: the weights of before on the same batches{f' ({why})' if why else ''}."
    waits = {} if why else {UNTRIED: 1.0}
    return msgspec.structs.replace(
        found, severity="note", message=found.message + said, evidence={**found.evidence, **waits}
    )
