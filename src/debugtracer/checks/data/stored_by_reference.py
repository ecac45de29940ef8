"""Do the entries of a buffer keep the values that they had when they were stored?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.stored_alias import StoredAlias
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class StoredByReference(Check, frozen=True):
    """The entries of a replay buffer or a list all hold one array, which is written to after it was stored.

    What it catches
        An environment that returns the array of its state and changes it in place; a buffer that stores what it is
        given without a copy; `states.append(state)` before `state += ...`.
    Why it matters
        All entries show the values of the last write. State and next state are equal in each transition, and a network
        is trained on the ends of episodes alone. The loss looks small.
    How it decides
        Half of the rows of a batch, which no DataLoader handed out, are the same as others, or two batches of a step
        are the same in other memory. The lists and deques that the functions on the stack can reach are looked into:
        the last 8 entries or more of one hold the same object in the same place. It is written to: its values were
        others at an earlier look, or a method of the object that holds it, too, writes into it.
        A store that copies what it is given shows two columns that are equal in all rows in memory of their own, at
        least 8 of them different, while two batches of a step are the same: the array was one before it was copied. A
        name of the loop still holds an array that another object writes into, or one method writes two different
        arguments into the columns. Where such an array is held, three quarters of the rows are enough (a reset() that
        copies makes the first row of an episode right), if the rows do not begin as the one before them ended: they do
        where an action changes nothing.
    What to do
        Store a copy, or return one from the environment.
    Example
        step 0, rank 0: the last 19 entries of ReplayBuffer.data (dqn.py:17) hold one and the same array, in places 0
        and 3 of each, which PointMass.state is, too (env.py:21 writes into it): 12 of 64 rows that QNet (dqn.py:57) is
        given are distinct, and another batch of the step is the same; expected the values at the time of storing. Store
        a copy.
    """

    needs: ClassVar[tuple[type[StoredAlias]]] = (StoredAlias,)
    kind: ClassVar[str] = "rollout_mismatch"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "store a copy: buffer.append(state.copy()), state.clone() of a tensor",
        "or return a copy from the environment: return self.state.copy()",
    )
    proved_by: ClassVar[str] = "data/drifting_buoys"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each container once."""
        for fact in window.new(StoredAlias):
            yield self.describe_columns(window, fact) if fact.columns else self.describe(window, fact)

    def describe(self, window: Window, fact: StoredAlias) -> Finding:
        """Build the finding at the line that stores."""
        places = " and ".join(str(place) for place in fact.places)
        within = f", in place{'s' * (len(fact.places) > 1)} {places} of each" if fact.places else ""
        at = f" ({file_line(fact.write_frame)} writes into it)" if fact.write_frame is not None else ""
        held = f", which {fact.held_by} is, too{at}" if fact.held_by else ", whose values have changed since"
        seen = f"{fact.distinct} of {fact.rows} rows that {fact.root}{spot(fact.called)} is given are distinct"
        if fact.twice:
            seen += ", and another batch of the step is the same"
        return self.finding(
            window,
            "warning",
            f"the last {fact.entries} entries of {fact.container}{spot(fact.frame)} hold one and the same array{within}"
            f"{held}: {seen}; expected the values at the time of storing. Store a copy.",
            ref=fact.ref,
            place=Place(frame=fact.frame or fact.write_frame or fact.called, symptom_frame=fact.called),
            entries=fact.entries,
            distinct=fact.distinct,
        )

    def describe_columns(self, window: Window, fact: StoredAlias) -> Finding:
        """Build the finding at the line that returns the array, where it is known."""
        one, other = fact.columns
        wrote = f", {file_line(fact.write_frame)} writes into it" if fact.write_frame is not None else ""
        gave = f"{file_line(fact.returned)} returns it" if fact.returned is not None else "a name of the loop holds it"
        held = f"{fact.held_by} is handed out itself ({gave}{wrote})" if fact.held_by else "both were the same"
        nearly = "nearly " if fact.unequal else ""
        share = f"{fact.entries - fact.unequal} of {fact.entries}" if fact.unequal else f"all {fact.entries}"
        return self.finding(
            window,
            "warning",
            f"{one} and {other} of {fact.container}{spot(fact.frame)} are equal in {share} rows compared: {held} when "
            f"they were stored, and {fact.root}{spot(fact.called)} is given two batches that are {nearly}the same; "
            f"expected rows before and after a step. Return a copy, or keep one before the step.",
            ref=fact.ref,
            place=Place(frame=fact.returned or fact.write_frame or fact.frame, symptom_frame=fact.called),
            entries=fact.entries,
            distinct=fact.distinct,
        )
