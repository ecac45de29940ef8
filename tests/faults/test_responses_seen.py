"""Every answer was seen in every mode that offers it, and the table says so; what was not seen is named."""

from __future__ import annotations

from tests.faults.scoring import part

seen, kept, sections = part("responses_seen"), part("kept"), part("sections")


def test_the_kept_runs_show_every_answer_in_every_mode_that_offers_it() -> None:
    values = kept.newest("responses").values
    assert seen.missing(values["runs"]) == []
    assert set(values["close_looks"]) == set(seen.MODES)
    assert {word for run in values["runs"] for word in run["answers"]} <= set(seen.OFFERED)


def test_the_offered_answers_are_those_of_the_responses() -> None:
    from debugtracer.responses.response import responses

    for slug, response in responses().items():
        assert seen.OFFERED[slug] - {"dev"} == set(response.modes), slug


def test_what_a_mode_offers_and_nobody_saw_is_named() -> None:
    runs = [{"script": "data/x", "mode": "val", "answers": ["incident", "stop"]}]
    assert (seen.cell(runs, "stop", "val"), seen.cell(runs, "stop", "prod")) == ("x", "not seen")
    assert seen.cell(runs, "roll-back", "val") == "-"
    assert "roll-back in prod" in seen.missing(runs) and "stop in val" not in seen.missing(runs)


def test_a_run_tells_what_it_did_once_and_how_often_it_looked() -> None:
    look = {"type": "observed", "word": seen.HEALTH, "fact": {}}
    events = [
        look,
        {"type": "incident"},
        {"type": "acted", "action": "skip-update"},
        {"type": "acted", "action": "skip-update"},
        look | {"fact": {"at_alarm": True}},
    ]
    ran = seen.Ran(3, events)
    assert ran.answers == ["incident", "skip-update", "stop"]
    assert ran.close_looks == 1


def test_the_cost_of_snapshots_is_a_share_of_the_steps_between_two() -> None:
    row = {"model": "m", "parameters": 2000, "step_ms": 10.0, "snapshot_ms": 2.0, "every": 40, "bytes": 1e6, "off": ""}
    text = sections.snapshots(kept.Kept(seen.ROOT, {"date": "2026-11-24", "commit": "abc", "rows": [row]}), "en")
    assert text.splitlines()[-1] == "| m | 2,000 | 10.00 | 2.00 | 40 | 0.50% | 1.0 MB | - |"
