"""Where a verdict without trials points, and what it says where it knows no cause: each condition by itself."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.causes.cause import Cause, Evidence, causes
from debugtracer.diagnosis.proof.rank import (
    Ranked,
    explained,
    guilty,
    lines,
    next_steps,
    package,
    phase,
    plural,
    rank,
    remedies,
    sentence,
    suspects,
    unseen_write,
    whereabouts,
    why_unknown,
)
from debugtracer.recorder.tape.step_tape import RESTED
from debugtracer.testing import TRAIN, a_birth, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.incident import IncidentFacts, OptimizerFacts, ReplayFacts, WeightWrite
from debugtracer.trace.place import Place

STEP, BUILT = Frame(TRAIN, 90), Frame(TRAIN, 70)
NOT_AGAIN = ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")


def cause(edit: str) -> Cause:
    return next(one for one in causes().values() if one.edit == edit)


def where(facts: IncidentFacts, edit: str) -> tuple[int | None, int | None]:
    line, symptom = lines(facts, cause(edit))
    return line.line if line else None, symptom.line if symptom else None


def test_the_line_to_edit_is_the_operators_the_constructors_or_where_the_data_met_the_loss():
    born = a_birth("aten::log")
    assert [where(some_facts(born), edit) for edit in ("operator", "optimizer", "data")] == [
        (47, 81),
        (70, 81),
        (47, 81),
    ]
    bad = a_birth(None, kind="input", direction="input", input_name="batch[0]")
    assert where(some_facts(bad), "data") == (81, 81)
    assert where(some_facts(bad), "operator") == (47, 81)


def test_the_line_to_edit_where_something_is_not_known():
    assert where(some_facts(), "operator") == (81, 81)
    assert where(some_facts(), "data") == (81, 81)
    assert where(some_facts(), "optimizer") == (70, 81)
    assert where(some_facts(optimizer=None), "optimizer") == (81, 81)
    assert where(some_facts(a_birth("aten::log"), optimizer=None), "optimizer") == (47, 81)
    assert where(some_facts(a_birth("aten::log"), symptom_frame=None), "operator") == (47, 47)
    assert where(some_facts(symptom_frame=None, optimizer=None), "operator") == (None, None)


def test_in_an_update_the_line_is_the_users_own_where_the_operator_is_to_be_edited():
    own = a_birth("aten::div", direction="update", line=12)
    known = {"symptom_frame": STEP, "optimizer": OptimizerFacts(kind="Mine", frame=BUILT)}
    assert where(some_facts(own, **known), "operator") == (12, 90)
    assert where(some_facts(own, **known), "optimizer") == (70, 90)
    inside = a_birth("aten::div", direction="update", line=90)
    inside = msgspec.structs.replace(inside, frames=(STEP,))  # the line of optimizer.step() itself
    assert where(some_facts(inside, **known), "operator") == (70, 90)
    nowhere = msgspec.structs.replace(own, frames=())
    assert where(some_facts(nowhere, **known), "operator") == (70, 90)
    assert where(some_facts(nowhere, symptom_frame=STEP, optimizer=None), "operator") == (90, 90)


@pytest.mark.parametrize(
    ("birth", "said"),
    [
        (a_birth("aten::log"), "forward"),
        (a_birth("aten::log", module=None), "loss"),
        (a_birth("aten::log", direction="backward", module=None), "backward"),
        (a_birth("aten::log", direction="update"), "update"),
        (a_birth(None, direction="input", kind="input", input_name="batch[0]"), "load"),
        (a_birth(None, direction="input", kind="input", input_name="parameter w"), "forward"),
        (a_birth(None, direction="input", kind="input"), "forward"),
    ],
)
def test_the_phase_is_where_the_value_was_born(birth, said):
    assert phase(some_facts(birth)) == said


def test_without_a_birth_the_phase_is_that_of_the_step():
    facts = some_facts()
    assert phase(facts) == facts.ref.phase


def test_whereabouts_are_those_of_the_birth_and_of_the_symptom_where_there_is_none():
    known = whereabouts(some_facts(a_birth("aten::log"), bad_params=("w", "b")))
    assert (known.op, known.module, known.line, known.symptom_line, known.param) == (
        "aten::log",
        "blocks.0.attn",
        47,
        81,
        "w",
    )
    assert (known.kind, known.birth_kind, known.direction) == (None, "domain", "forward")
    plain = whereabouts(some_facts())
    assert (plain.op, plain.module, plain.line, plain.symptom_line, plain.param) == (None, None, 81, 81, None)
    bare = whereabouts(some_facts(symptom_frame=None))
    assert (bare.file, bare.line, bare.symptom_line, bare.birth_kind, bare.direction) == (None,) * 5
    assert whereabouts(some_facts(a_birth("aten::log"), symptom_frame=None)).symptom_line == 47
    bad = whereabouts(some_facts(a_birth("aten::log", kind="input", backward_op="aten::div")))
    assert (bad.op, bad.module, bad.backward_op) == (None, None, None)


def test_guilty_rows_name_samples_where_the_loader_keeps_their_order_and_has_that_many():
    born = a_birth("aten::log", rows=(4, 31))
    assert guilty(some_facts(born), None) == ((4, 31), (904, 931))
    assert guilty(some_facts(born, batch_rows=(7,)), None) == ((7,), (907,))
    assert guilty(some_facts(born, batch_rows=()), None) == ((), None)
    assert guilty(some_facts(a_birth("aten::log", rows=(4, 32))), None) == ((4, 32), None)
    assert guilty(some_facts(born, loader=None), None) == ((4, 31), None)
    assert guilty(some_facts(born, sample_index=(11,)), None) == ((4, 31), (11,))
    unknown = msgspec.structs.replace(some_facts().loader, indices=None)  # type: ignore[type-var]
    assert guilty(some_facts(born, loader=unknown), None) == ((4, 31), None)
    assert guilty(some_facts(), None) == (None, None)


def test_all_rows_are_guilty_where_the_evidence_says_so_and_the_samples_are_known():
    whole = Evidence(0.8, "because", (), whole_batch=True)
    born = a_birth("aten::log", rows=(4,))
    assert guilty(some_facts(born), whole) == (tuple(range(32)), tuple(range(900, 932)))
    assert guilty(some_facts(born, loader=None), whole) == ((4,), None)
    assert guilty(some_facts(born), Evidence(0.8, "because", ())) == ((4,), (904,))


def test_a_sentence_names_samples_and_else_rows():
    line = Frame("/p/train.py", 5)
    said = [sentence(some_facts(), "x", line, (9,), (1,)), sentence(some_facts(), "x", None, None, (1, 2))]
    assert said == [
        "step 48, rank 0: the loss is not finite because x; dataset sample 9; edit train.py:5",
        "step 48, rank 0: the loss is not finite because x; rows 1, 2 of the batch",
    ]
    assert sentence(some_facts(), "x", None, (), ()).endswith("because x")


def test_more_than_six_numbers_are_counted():
    assert plural("row", (3,)) == "row 3"
    assert plural("row", (3, 4)) == "rows 3, 4"
    assert plural("row", tuple(range(6))) == "rows 0, 1, 2, 3, 4, 5"
    assert plural("row", tuple(range(8))) == "rows 0, 1, 2, 3, 4, 5 and 2 more"


def test_a_package_is_the_folder_below_site_packages_and_else_the_file_s_own():
    assert package("/env/lib/site-packages/metric/losses/angle.py") == "metric"
    assert package("/env/lib/dist-packages/single.py") == "single"
    assert package("/env/site-packages/a/vendored/site-packages/b/c.py") == "b"
    assert package("/home/someone/metric/angle.py") == "metric"
    assert package("/env/lib/site-packages") == "lib"


def test_an_op_inside_a_library_is_kept_out_of_reach_where_the_operator_is_to_be_edited():
    inside = Frame("/env/site-packages/metric/angle.py", 24)
    born = a_birth("aten::log", library=inside)

    def told(facts: IncidentFacts, edit: str) -> int:
        return len(remedies(facts, Ranked(cause(edit), Evidence(0.8, "because", ("do it",)))))

    assert told(some_facts(born), "operator") == 2
    assert told(some_facts(born), "optimizer") == told(some_facts(born), "data") == 1
    assert told(some_facts(a_birth("aten::log")), "operator") == told(some_facts(), "operator") == 1
    assert told(some_facts(msgspec.structs.replace(born, frames=())), "operator") == 1
    assert told(some_facts(msgspec.structs.replace(born, frames=(inside,))), "operator") == 1


def write(replayed: bool, line: int = 12) -> WeightWrite:
    return WeightWrite(params=("up.w", "up.b"), op="copy_", frame=Frame(TRAIN, line), replayed=replayed)


def test_a_write_that_a_replay_cannot_take_back_is_said_and_is_the_first_thing_to_look_at():
    facts = some_facts(replay=NOT_AGAIN, written=(write(True, 9), write(False)))
    assert unseen_write(facts) == write(False)
    assert why_unknown(facts) == (
        "the cause is unknown: replay (tape) did not show the fault (not reproduced), and it began after a write of "
        "the program's own: copy_ at train.py:12 wrote up.w and 1 more since the last update"
    )
    assert next_steps(facts)[0].startswith("look at what train.py:12 writes into up.w and 1 more: ")
    assert len(next_steps(facts)) == 2
    again = some_facts(replay=NOT_AGAIN, written=(write(True),))
    assert unseen_write(again) is None
    assert why_unknown(again) == "the cause is unknown: replay (tape) did not show the fault (not reproduced)"
    assert len(next_steps(again)) == 3


def test_a_step_whose_calls_rested_is_told_to_be_run_with_all_recorded():
    again = some_facts(replay=msgspec.structs.replace(NOT_AGAIN, refused=(f"tape: {RESTED}",)))
    assert why_unknown(again) == (
        "the cause is unknown: its calls were not recorded, to stay under the promised cost (--cost 1 records every "
        "step), and what could be executed again without them did not show the fault"
    )
    assert next_steps(again)[0] == "run it again with `--cost 1`: every step is recorded then"


def test_why_a_cause_is_unknown_and_what_to_do_next():
    assert why_unknown(some_facts(a_birth("aten::log"), note="why")).startswith("the place of birth is known")
    assert why_unknown(some_facts()) == (
        "the cause is unknown: replay (tape) shows the fault (bitwise) but no op that made it"
    )
    assert why_unknown(some_facts(replay=None)).endswith("only the flight record is there")
    assert next_steps(some_facts())[0].startswith("execute the step again offline")
    assert next_steps(some_facts(replay=None))[0].startswith("look at the batch")
    assert next_steps(some_facts(note="from rank 1", world_size=2))[0].startswith("read the verdict of the rank")
    assert next_steps(some_facts(note="from rank 1"))[0].startswith("execute the step again offline")
    assert next_steps(some_facts(world_size=2))[0].startswith("execute the step again offline")


class Sure(Cause):
    """Says what it is told to say."""

    kind, confidence, exact = "full_moon", 0.5, False

    def evidence_from_incident(self, incident):
        return Evidence(self.confidence, "the moon is full", ("wait",), exact=self.exact)


def ranked(monkeypatch, *others: Cause) -> list[Ranked]:
    monkeypatch.setattr("debugtracer.diagnosis.proof.rank.causes", lambda: dict(enumerate(others)))
    return suspects(some_facts())


def one(slug: str, kind: str, confidence: float, fallback: bool = False, exact: bool = False) -> Cause:
    """A cause whose slug is that of its file: here it is given."""
    members = {"kind": kind, "confidence": confidence, "fallback": fallback, "exact": exact, "slug": slug}
    return type("One", (Sure,), members)()  # type: ignore[no-any-return]


def test_the_likeliest_of_each_class_comes_first_and_of_equals_the_first_by_name(monkeypatch):
    found = ranked(monkeypatch, one("b", "x", 0.5), one("a", "x", 0.5), one("c", "y", 0.9), one("d", "x", 0.3))
    assert [(r.cause.slug, r.evidence.confidence) for r in found] == [("c", 0.9), ("a", 0.5)]


def test_a_fallback_stands_beside_none_that_is_possible(monkeypatch):
    assert [r.cause.kind for r in ranked(monkeypatch, one("a", "x", 0.4), one("b", "y", 0.9, fallback=True))] == ["x"]
    weak = ranked(monkeypatch, one("a", "x", 0.39), one("b", "y", 0.9, fallback=True))
    assert [r.cause.kind for r in weak] == ["y", "x"]


def test_only_what_is_possible_is_a_verdict_and_only_an_invariant_is_confirmed(monkeypatch):
    def verdict(confidence: float, exact: bool = False):
        monkeypatch.setattr(
            "debugtracer.diagnosis.proof.rank.causes", lambda: {"a": one("a", "x", confidence, exact=exact)}
        )
        return rank(some_facts())

    assert (verdict(0.39).kind, verdict(0.39).status, [s.kind for s in verdict(0.39).suspects]) == (
        None,
        "unknown",
        ["x"],
    )
    assert [verdict(c).status for c in (0.4, 0.69, 0.7, 0.95)] == ["possible", "possible", "likely", "likely"]
    assert verdict(0.4, exact=True).status == "confirmed"


def test_evidence_with_a_place_of_its_own_is_where_the_verdict_points():
    facts = some_facts(a_birth("aten::log"), bad_params=("w",))

    def told(place: Place | None):
        verdict = explained(facts, Ranked(cause("operator"), Evidence(0.8, "because", (), place=place)), [])
        return verdict.line, verdict.module, verdict.param

    assert told(None) == (47, "blocks.0.attn", "w")
    assert told(Place(frame=Frame(TRAIN, 3), module="up", param="up.weight")) == (3, "up", "up.weight")
    assert told(Place(module="up")) == (47, "up", None)


def test_without_a_trial_the_confidence_is_that_of_no_proof():
    best = Ranked(causes()["log-domain"], Evidence(0.9, "because", ()))
    assert calibrated("likely", False, 0.9, "log_domain") != calibrated("likely", True, 0.9, "log_domain")
    verdict = explained(some_facts(a_birth("aten::log")), best, [])
    assert verdict.confidence == calibrated("likely", False, 0.9, "log_domain")
