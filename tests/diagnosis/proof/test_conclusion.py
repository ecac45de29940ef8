"""From belief and trials to status, words and equivalents."""

import math

from debugtracer.causes.cause import causes
from debugtracer.diagnosis.proof.belief import Belief
from debugtracer.diagnosis.proof.conclusion import concluded
from debugtracer.diagnosis.proof.rank import suspects
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.interventions.intervention import interventions
from debugtracer.replay.trials.score import Score
from debugtracer.testing import a_birth, a_tensor, some_facts
from debugtracer.trace.verdict import word


def a_log():
    birth = a_birth(
        "aten::log",
        a_tensor(0.0),
        kind="domain",
        output=a_tensor(neginf=4),
        code="loss = -torch.log(p).mean()",
        rows=(3,),
    )
    return some_facts(birth, batch_rows=(3,), sample_index=(903,))


def tried(facts, healing, *, reproduced=True, only=None):
    """The verdict after every trial that may be run, of which those in `healing` heal."""
    ranked = suspects(facts)

    def run(intervention):
        good = intervention.slug in healing
        return Score(
            loss=0.6 if good else math.nan,
            grad_l2=1.0 if good else None,
            probe_loss=0.7 if good else None,
            change=f"{intervention.slug} tried",
        )

    series = TrialSeries(
        Belief.of({r.cause.slug: r.evidence.confidence for r in ranked}),
        run,
        lambda s: s.finite,
        TrialBudget(),
        named=only,
        too_late=frozenset({"update"}),
    )
    series.note(interventions()["unchanged"], Score(loss=math.nan), "reproduced" if reproduced else "not reproduced")
    series.tried.add("unchanged")
    series.go()
    return concluded(facts, ranked, series)


def test_reproduced_healed_by_its_proof_and_an_alternative_refuted_is_confirmed():
    verdict = tried(
        a_log(),
        {"stable-op", "without-sample", "other-batch"},
        only=frozenset({"stable-op", "full-precision", "older-weights"}),
    )
    assert (verdict.kind, verdict.status) == ("log_domain", "confirmed")
    assert verdict.tested == "with stable-op tried: loss 0.6, gradients finite, a healthy batch after the update: 0.7"
    assert verdict.change is not None
    assert "clamp_min" in verdict.change.after[0]


def test_without_a_refuted_alternative_it_is_likely():
    assert tried(a_log(), {"stable-op"}, only=frozenset({"stable-op"})).status == "likely"


def test_the_words_beside_a_change_are_of_a_trial_of_that_change_and_of_no_other():
    verdict = tried(
        a_log(),
        {"without-sample", "other-batch"},
        only=frozenset({"without-sample", "full-precision", "older-weights"}),
    )
    assert verdict.change is not None
    assert verdict.tested == ""
    assert any(t.intervention == "without-sample" and t.outcome == "healed" for t in verdict.trials)


def test_a_change_that_was_tried_and_did_not_heal_is_not_proposed_and_that_is_said_first():
    verdict = tried(
        a_log(), {"without-sample", "other-batch"}, only=frozenset({"stable-op", "without-sample", "older-weights"})
    )
    assert (verdict.kind, verdict.change, verdict.tested) == ("log_domain", None, "")
    assert verdict.remedy[0].startswith(
        "stable-op tried alone did not heal the recorded step (loss nan); without-sample tried did (loss 0.6"
    )
    assert verdict.remedy[0].endswith(": look at the guilty rows first (`debug-tracer report RUN --batch`)")


def test_what_did_not_come_again_is_not_confirmed():
    verdict = tried(a_log(), {"stable-op"}, reproduced=False, only=frozenset({"stable-op", "full-precision"}))
    assert verdict.status != "confirmed"


def test_proofs_that_fail_leave_it_unknown_or_weaker_and_say_so():
    verdict = tried(a_log(), set(), only=frozenset({"stable-op", "without-sample", "other-batch"}))
    assert verdict.status in ("unknown", "possible")
    assert verdict.tested == ""
    assert "log_domain" in [s.kind for s in verdict.suspects] or any("stable-op" in text for text in verdict.against)


def test_what_an_op_was_seen_to_get_stays_its_class_when_its_remedies_do_not_heal():
    birth = a_birth("aten::log", a_tensor(-0.003), kind="domain", output=a_tensor(nan=4), code="torch.log(var).mean()")
    verdict = tried(some_facts(birth), {"older-weights"}, only=frozenset({"stable-op", "other-batch", "older-weights"}))
    assert (verdict.kind, verdict.status) == ("log_domain", "possible")
    assert any("stable-op" in text for text in verdict.against)
    assert "it lies in the updates before: older weights heal the step, another batch does not" in verdict.evidence
    assert any("older weights heal this step" in text or "negative argument" in text for text in verdict.remedy)


def test_batch_and_state_are_attributed():
    verdict = tried(
        a_log(), {"stable-op", "other-batch"}, only=frozenset({"stable-op", "other-batch", "older-weights"})
    )
    assert "it lies in this batch: another batch heals the step, older weights do not" in verdict.evidence


def test_the_words_of_belief():
    assert [word(share) for share in (0.7, 0.69, 0.4, 0.39)] == ["likely", "possible", "possible", "unknown"]


def test_every_proof_named_by_a_cause_is_an_intervention():
    known = interventions()
    assert [(c.slug, p) for c in causes().values() for p in (*c.proved_by, *c.refuted_by) if p not in known] == []
