"""What is news is written once, what keeps changing ever more seldom."""

from __future__ import annotations

from debugtracer.recorder.output.fact_deduplicator import FIRST, FactDeduplicator, thinned
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.step import StepRef


class Level(Fact, frozen=True, kw_only=True):
    name: str
    value: int

    def key(self) -> object:
        return self.name


class Page:
    rank = 3

    def __init__(self) -> None:
        self.events = []

    def trace_id(self, iteration: int) -> str:
        return f"run-3-{iteration}"

    def event(self, event) -> None:
        self.events.append(event)


def level(step: int, value: int, name: str = "a") -> Level:
    return Level(ref=StepRef(iteration=step, step=step), name=name, value=value)


def test_the_same_again_is_no_news_but_another_value_or_name_is():
    ledger = FactDeduplicator(Page())
    for fact in (level(0, 1), level(1, 1), level(2, 2), level(3, 1, "b"), level(4, 2)):
        ledger.keep([fact])
    assert [(e.fact["name"], e.fact["value"], e.fact["ref"]["step"]) for e in ledger.output.events] == [
        ("a", 1, 0),
        ("a", 2, 2),
        ("b", 1, 3),
    ]


def test_facts_leave_with_the_rank_of_the_process():
    ledger = FactDeduplicator(Page())
    (fact,) = ledger.keep([level(0, 1)])
    assert fact.ref.rank == 3
    assert ledger.output.events[0].rank == 3


def test_what_keeps_changing_is_written_ever_more_seldom():
    ledger = FactDeduplicator(Page())
    ledger.keep([level(step, step) for step in range(10_000)])
    steps = [e.fact["value"] for e in ledger.output.events]
    assert steps[: FIRST + 3] == [*range(FIRST + 1), FIRST + 2, FIRST + 4]
    assert len(steps) < 200
    assert not thinned(0)


def test_a_forked_child_starts_from_nothing():
    ledger = FactDeduplicator(Page())
    ledger.keep([level(0, 1)])
    ledger.reset()
    ledger.keep([level(1, 1)])
    assert len(ledger.output.events) == 2


def test_the_latest_of_a_kind_is_kept():
    news = FactDeduplicator(Page())
    assert news.last(Level) is None
    news.keep([level(0, 1, "a"), level(4, 2, "b"), level(2, 3, "a")])
    assert news.last(Level).ref.step == 4


def test_thirty_two_are_written_then_sixteen_for_each_doubling():
    written = [count for count in range(600) if not thinned(count)]
    assert written[:33] == [*range(32), 32]
    for low in (32, 64, 128, 256):
        assert sum(low <= count < 2 * low for count in written) == 16
    assert [count for count in written if 32 <= count < 42] == [32, 34, 36, 38, 40]


def test_norms_of_layers_go_to_their_own_place_and_health_is_kept_as_a_picture():
    page = Page()
    page.told = []
    page.norms = lambda norms: page.told.append(("norms", norms))
    page.snapshot = lambda health: page.told.append(("health", health))
    ref = StepRef(iteration=1, step=1, rank=3)
    norms, health = LayerNorms(ref=ref, role="weight", names=(), steps=(), values=()), Health(ref=ref, tensors=())
    assert FactDeduplicator(page).keep([norms, level(0, 1), health])[1:] == [health]
    assert page.told == [("norms", norms), ("health", health)]
    assert [event.word for event in page.events] == [Level.word(), Health.word()]


def test_a_fact_of_the_own_rank_leaves_as_it_came():
    fact = Level(ref=StepRef(iteration=0, step=0, rank=3), name="a", value=1)
    assert FactDeduplicator(Page()).keep([fact])[0] is fact
