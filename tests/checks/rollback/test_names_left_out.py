"""A checkpoint of which nothing was taken."""

from __future__ import annotations

from debugtracer.checks.rollback.names_left_out import NamesLeftOut
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from debugtracer.trace.facts.names_ignored import NamesIgnored
from debugtracer.trace.window import Window
from tests.checks.windows import LOADER, ref


def judged(came=1, saved=(), **of):
    fields = {"given": 6, "loaded": 0, "missing": 6, "given_name": "module.0.weight", "own_name": "0.weight"} | of
    fact = NamesIgnored(ref=ref(0), owner="Net", frame=LOADER, **fields)
    facts = {NamesIgnored: (fact,), CheckpointSaved: tuple(saved)}
    return list(NamesLeftOut().judge(Window(ref=fact.ref, facts=facts, came={NamesIgnored: came})))


def test_it_is_sure_where_a_prefix_heals_it():
    (finding,) = judged(healed=6, removed="module.")
    assert (finding.severity, finding.exact, finding.kind) == ("error", True, "resume_state")
    assert "Net took 0 of the 6 tensors it was given: the names of the state begin with `module.`" in finding.message
    assert "state = {k.removeprefix('module.'): v for k, v in state.items()}" in finding.remedy[0]


def test_a_prefix_that_is_missing_and_one_that_is_another():
    (finding,) = judged(healed=6, added="net.", given_name="0.weight", own_name="net.0.weight")
    assert "the names of Net begin with `net.` (net.0.weight), the state has 0.weight" in finding.message
    (finding,) = judged(healed=6, removed="old.", added="new.")
    assert "Rename before the load" in finding.message


def test_a_part_that_would_fit_and_names_that_do_not_are_warnings():
    assert [f.severity for f in judged(healed=4, removed="module.", loaded=2)] == ["warning"]
    (finding,) = judged()
    assert (finding.severity, finding.exact) == ("warning", False)
    assert "Compare both lists of names" in finding.message


def test_a_load_is_told_once():
    assert judged(came=0) == []


def test_the_line_that_renames_leaves_what_was_taken_as_it_is():
    (finding,) = judged(loaded=2, healed=4, removed="encoder.module.", added="encoder.")
    assert "the names left out begin with `encoder.module.`" in finding.message
    assert "state = {k.replace('encoder.module.', 'encoder.', 1): v for k, v in state.items()}" in finding.remedy[0]
    (finding,) = judged(loaded=2, healed=4, added="net.")
    assert "{k if k in model.state_dict() else 'net.' + k: v for" in finding.remedy[0]
    (finding,) = judged(healed=6, added="net.")
    assert "{'net.' + k: v for" in finding.remedy[0]


def test_what_to_do_follows_from_what_differs():
    told = {
        "Strip the prefix before the load.": {"removed": "module."},
        "Add the prefix before the load.": {"added": "net."},
        "Rename before the load.": {"removed": "module.", "added": "net."},
    }
    for words, differs in told.items():
        (finding,) = judged(healed=6, **differs)
        assert finding.message.endswith(f" {words}")
    (finding,) = judged(healed=1, removed="module.", filtered=True)
    assert "the program left out what does not fit; without that prefix 1 fits" in finding.message
    assert "of the file" in finding.message
    (finding,) = judged(given_name="")
    assert "of the 6 tensors of the module, and strict=False" in finding.message


def test_the_line_that_filters_leads_and_the_one_that_saved_is_named():
    kept, saves = Frame("train.py", 7), Frame("train.py", 3)
    save = CheckpointSaved(ref=ref(0), parts=("weights",), live=(), frame=saves)
    (finding,) = judged(healed=6, removed="module.", filtered=True, kept=kept, saved=[save])
    assert (finding.place.frame, finding.place.symptom_frame) == (kept, LOADER)
    assert "Strip the prefix before the load, or save the unwrapped model (train.py:3)." in finding.message
    (finding,) = judged(healed=6, removed="old.", saved=[save])
    assert "unwrapped" not in finding.message
