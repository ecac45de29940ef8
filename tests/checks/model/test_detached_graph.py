"""Do the losses hang on the parameters that made them?"""

from __future__ import annotations

from debugtracer.checks.model.detached_graph import DetachedGraph
from debugtracer.trace.facts.graph_reach import Cut, GraphReach, SampledLatent
from tests.checks.facts_at import judged, line, ref

CUT = Cut(function="detach", frame=line(22))


def reach(step: int, lost_numel: int = 900, number: int = 0, **fields: object) -> GraphReach:
    common = {"lost": ("encoder.weight", "encoder.bias"), "cut": CUT, "reached": 100, "lasting": step + 1}
    return GraphReach(ref=ref(step), optimizer="Adam", number=number, lost_numel=lost_numel, **{**common, **fields})  # type: ignore[arg-type]


def test_a_cut_that_lasts_three_updates_is_a_warning():
    (finding,) = judged(DetachedGraph(), [reach(step) for step in range(3)])
    assert finding.message == (
        "step 0, rank 0: 2 parameters (encoder.weight, ...), 90% of the values that Adam trains, take part in the "
        "forward and no loss hangs on them: detach at line 22 ends the graph; expected a gradient. Remove the detach, "
        "or set requires_grad_(False) if they are frozen on purpose."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "detached_graph", 22)


def test_under_a_condition_it_is_told_at_the_end_unless_the_part_learns_by_then():
    phase = Cut(function="detach", frame=line(22), conditional=True)
    looks = [reach(step, cut=phase) for step in range(4)]
    assert not judged(DetachedGraph(), looks)
    (found,) = judged(DetachedGraph(), looks, ended=True)
    assert (found.severity, found.step) == ("warning", 0)
    assert not judged(DetachedGraph(), [*looks, reach(80, lost=(), lost_numel=0, lasting=0)], ended=True)


def test_two_updates_and_alternating_parts_are_silent():
    assert not judged(DetachedGraph(), [reach(0), reach(1)])
    assert not judged(DetachedGraph(), [reach(0), reach(1), reach(2, lost=(), lasting=0), reach(3, lasting=1)])


def test_a_small_part_a_sleeping_part_and_an_unknown_cut_are_notes():
    for fields in ({"lost_numel": 30}, {"asleep": True}, {"cut": None}):
        found = judged(DetachedGraph(), [reach(step, **fields) for step in range(3)], ended=True)
        assert [f.severity for f in found] == ["note"]


def later(**fields: object) -> list[GraphReach]:
    """Three looks at the beginning, and one at step 100 that may differ."""
    usual = {"lost_numel": 30, "cut": None, "stood": True, "used": line(17)}
    return [*(reach(step, **usual) for step in range(3)), reach(100, **{**usual, "lasting": 4, **fields})]


def test_a_small_part_that_never_learns_is_a_warning_with_the_lines_where_it_is_made_and_used():
    (finding,) = judged(DetachedGraph(), later(made=line(11)), ended=True)
    assert finding.message == (
        "step 100, rank 0: 2 parameters (encoder.weight, ...) made (train.py:11) took part in every one of 4 inspected "
        "steps over 100 updates, had no gradient in any and kept the first values, while Adam trained others; used "
        "(train.py:17); expected a gradient in each. Let the loss depend on it, or set requires_grad_(False) if it is "
        "frozen on purpose."
    )
    assert (finding.severity, finding.place.frame, finding.place.param) == ("warning", line(17), "encoder.weight")
    (cut,) = judged(DetachedGraph(), later(cut=CUT))
    assert "detach (train.py:22) ends its graph" in cut.message
    assert judged(DetachedGraph(), later(cut=CUT, spare=True)) == [cut]
    assert cut.place.frame == line(22)


def test_it_stays_a_note_where_others_update_it_it_sleeps_ends_equal_blocks_or_others_were_lost():
    for fields in ({"stood": False}, {"asleep": True}, {"spare": True}, {"reached": 0}, {"lost": ("head.weight",)}):
        assert [f.severity for f in judged(DetachedGraph(), later(**fields), ended=True)] == ["note"]


def test_at_the_threshold_of_updates():
    looks = later()[:3]
    for step, severity in ((49, "note"), (50, "warning")):
        last = reach(step, lost_numel=30, cut=None, stood=True, lasting=4)
        assert [f.severity for f in judged(DetachedGraph(), [*looks, last], ended=True)] == [severity]


def sampled(step: int, **fields: object) -> SampledLatent:
    common = {"function": "Normal.sample", "optimizer": "Adam", "lost": ("mean.weight",), "count": 4, "elsewhere": True}
    return SampledLatent(ref=ref(step), frame=line(9), **{**common, **fields})  # type: ignore[arg-type]


def test_a_latent_drawn_without_a_graph_is_told_when_it_was_seen_twice():
    assert not judged(DetachedGraph(), [sampled(0), sampled(0, function="Gamma.sample")], ended=True)
    (finding,) = judged(DetachedGraph(), [sampled(step) for step in range(3)], ended=True)
    assert finding.message == (
        "step 1, rank 0: Normal.sample (train.py:9), drawn without a graph, goes into a loss that gives no gradient "
        "through it to what made the distribution: 4 parameters of Adam, first mean.weight; they are trained by "
        "another part of the loss alone; expected a reparameterised draw. Write rsample()."
    )
    assert (finding.severity, finding.place.frame.line) == ("warning", 9)


def test_torch_normal_is_replaced_by_a_sum():
    found = judged(DetachedGraph(), [sampled(s, function="torch.normal", elsewhere=False) for s in range(2)])
    assert (
        "whose derivative is 0" in found[0].message and "Write mean + std * torch.randn_like(std)." in found[0].message
    )
    assert "trained by another" not in found[0].message
