"""A bad step that waits for its batch: who is let through, who closes the case, and when the run is stopped."""

from __future__ import annotations

import types

import pytest

from debugtracer.errors import StoppedByTracer
from debugtracer.replay import investigate
from tests.diagnosis.incidents_opened import Waiting, incidents


def an_alarm(symptom="nan_loss", module=None):
    return types.SimpleNamespace(symptom=symptom, module=module)


@pytest.fixture
def found(monkeypatch):
    """What the replay of every alarm finds."""
    result = types.SimpleNamespace(normal=False, is_final=False, asked=[])

    def looked(alarm, context, capsule_bytes):
        result.asked.append(capsule_bytes)
        return result

    monkeypatch.setattr(investigate, "investigate", looked)
    return result


def test_nothing_waits_without_a_re_yield_or_while_none_is_armed():
    for one in (incidents(), incidents(reyield=Waiting(held=False, data=("batch",)))):
        one.next_fetch()
        one.give_up()
        assert one.again("iterator") is None and not one.skip_step() and not one.skip_write()
        assert not one.look_again(None) and one.waited == 0


def test_a_fetch_is_kept_where_it_may_be_given_again():
    one = incidents(reyield=Waiting(held=False))
    one.handed_out("iterator", "batch")
    assert one.reyield.kept == [("iterator", "batch")]
    incidents().handed_out("iterator", "batch")


def test_the_next_fetch_is_let_through_before_the_batch_runs_again_and_closes_the_case_after_it():
    waits = incidents(reyield=Waiting())
    waits.state.quiet_until_healthy = True
    waits.next_fetch()
    assert waits.state.quiet_until_healthy is False and not waits.reyield.finished
    with pytest.raises(StoppedByTracer):
        incidents(reyield=Waiting(tracer="runs")).next_fetch()


def test_the_batch_is_given_again_and_another_iterator_closes_the_case():
    data = ("batch",)
    one = incidents(reyield=Waiting(data=data))
    assert one.again("iterator") is data and not one.reyield.finished
    with pytest.raises(StoppedByTracer):
        incidents(reyield=Waiting(data=None)).again("other")


def test_one_step_is_skipped_while_its_loss_waits_and_the_next_one_closes_the_case():
    one = incidents(reyield=Waiting())
    assert one.skip_step() is True and not one.reyield.finished
    with pytest.raises(StoppedByTracer):
        one.skip_step()
    assert one.waited == 2 and one.reyield.finished == [None]


def test_a_step_under_the_tracer_is_not_skipped_and_its_write_closes_the_case():
    runs = incidents(reyield=Waiting(tracer="runs"))
    assert runs.skip_step() is False and runs.waited == 0
    with pytest.raises(StoppedByTracer):
        runs.skip_write()
    waits = incidents(reyield=Waiting())
    assert waits.skip_write() is True and not waits.reyield.finished


def test_a_case_is_closed_without_a_stop_where_nothing_stops():
    one = incidents(reyield=Waiting(), stops=False)
    one.give_up()
    assert one.reyield.finished == [None] and one.opened == ["first alarm"]


@pytest.mark.parametrize(("symptom", "waited"), [("nan_loss", 0), ("inf_grad", 1)])
def test_a_fault_without_a_final_answer_waits_for_its_batch(found, symptom, waited):
    one = incidents(reyield=Waiting(held=False))
    assert one.look_into(an_alarm(symptom)) is False
    assert (one.waited, len(one.reyield.armed), hasattr(one, "opened")) == (waited, 1, False)
    assert one.state.quiet_until_healthy is True and one.state.anomalies == 1


@pytest.mark.parametrize("why", ["goes on", "final", "writes itself", "no loader", "not armed"])
def test_it_is_concluded_at_once_where_waiting_is_no_use(found, why):
    waiting = None if why == "no loader" else Waiting(held=False, arms=why != "not armed")
    one = incidents(reyield=waiting, stops=why != "goes on")
    found.is_final = why == "final"
    one.state.backward_ends_step = why == "writes itself"
    alarm = an_alarm()
    assert one.look_into(alarm) is True and one.opened == [alarm]
    assert waiting is None or len(waiting.armed) == (why == "not armed")


def test_a_capsule_is_made_up_to_the_last_incident_that_is_saved(found):
    one = incidents(most=1, stops=False)
    assert one.look_into(an_alarm()) is True
    one.count = 1
    assert one.look_into(an_alarm()) is True
    assert found.asked == [1000, 0]


def test_what_is_meant_is_no_incident_and_its_module_is_remembered(found):
    found.normal = True
    one, known = incidents(), types.SimpleNamespace(deliberate_inf=False)
    one.context.roots["mask"] = known
    assert one.look_into(an_alarm(module="other")) is False and known.deliberate_inf is False
    assert one.look_into(an_alarm(module=None)) is False
    assert one.look_into(an_alarm(module="mask")) is False and known.deliberate_inf is True
    assert one.state.anomalies == 0 and one.state.quiet_until_healthy is False


def test_as_many_are_looked_into_as_may_be_saved_and_more_where_a_response_asks(found):
    one = incidents(most=2, stops=False)
    one.count = 1
    assert one.full is False and one.attempt(an_alarm()) is True
    one.count = 2
    assert one.full is True and one.attempt(an_alarm()) is False
    judges = incidents(most=2, stops=False, judges_on=True)
    judges.count = 2
    assert judges.attempt(an_alarm()) is True


def test_an_alarm_of_the_batch_that_runs_again_concludes_the_first_one(found):
    one, seen = incidents(reyield=Waiting(tracer="runs")), an_alarm()
    assert one.attempt(seen) is True
    assert one.reyield.finished == [seen] and one.opened == ["first alarm"] and not found.asked


def test_what_fails_in_an_investigation_is_no_incident(monkeypatch):
    def fails(*asked):
        raise ValueError("broken")

    swallowed = []
    monkeypatch.setattr(investigate, "investigate", fails)
    monkeypatch.setattr("debugtracer.diagnosis.incidents.swallow", lambda *told: swallowed.append(told[0]))
    assert incidents().attempt(an_alarm()) is False and swallowed == ["diagnosis.incidents"]


def test_mode_dev_stops_at_an_incident_and_at_nothing_else(found):
    with pytest.raises(StoppedByTracer):
        incidents().open(an_alarm())
    incidents(stops=False).open(an_alarm())
    found.normal = True
    incidents().open(an_alarm())


def test_a_forked_child_counts_from_nothing(found):
    one = incidents()
    one.count = 2
    one.reset()
    assert one.count == 0
