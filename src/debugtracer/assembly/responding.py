"""Builds what acts on a bad step in modes val and prod; in the others nothing does."""

from __future__ import annotations

from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.diagnosis.incidents import Incidents
from debugtracer.notify.notices import notices
from debugtracer.recorder.gate.rank_vote import RankVote
from debugtracer.recorder.listeners import SegmentListener
from debugtracer.recorder.output.last_good import LastGood
from debugtracer.recorder.output.shards import Shards
from debugtracer.recorder.resume.state_keeper import StateKeeper
from debugtracer.recorder.state.window_state import WindowState
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.attendance import Attendance
from debugtracer.responses.bad_samples import BadSamples
from debugtracer.responses.control import Control
from debugtracer.responses.early_stop import CAUSE, EarlyStop
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.policy import Policy, choices
from debugtracer.responses.rank_agreement import RankAgreement
from debugtracer.responses.responder import Responder
from debugtracer.settings import Settings
from debugtracer.trace.facts.went_back import WentBack
from debugtracer.trace.window import GRAD_L2, LOSS


class Responding:
    """Depends on the recording, the replay and the incidents."""

    def __init__(
        self,
        settings: Settings,
        recording: Recording,
        replaying: Replaying,
        incidents: Incidents,
        segments: SegmentListener,
    ) -> None:
        state, output = recording.state, recording.output
        self.segments = WindowState(state, recording.tape, segments)
        told = notices(settings.webhook, settings.apprise, settings.notify)
        log = ActionLog(output, lambda: incidents.findings.recent.get(LOSS, ()), told)
        control = Control(state, output, log, recording.passes, self.save, lambda: incidents.stopped, settings.pause_s)
        vote = replaying.consensus.vote if replaying.consensus is not None else RankVote(settings.ranks_s)
        ranks = RankAgreement(state, vote)
        self.training = LiveTraining(
            state,
            recording.tape,
            self.segments,
            recording.copies,
            recording.ring,
            recording.batches,
            output,
            replaying.hooks.disabled,
            LastGood(state, recording.passes, Shards()),
            Attendance(settings.pause_s, bool(told.channels or settings.alert_token), lambda: output.folder),
            lambda seconds: ranks.one_word(seconds, control.wait),
            lambda: incidents.findings.step_losses,
            lambda: tuple(incidents.findings.recent.get(GRAD_L2, ())),
            lambda step: went_back(replaying, step),
        )
        if settings.last_good_s > 0:
            recording.passes.add_listener(
                StateKeeper(state, recording.passes, self.training.save_later, settings.last_good_s, settings.cost)
            )
        samples = BadSamples(state, recording.batches, recording.left_out, output, log)
        policy = Policy(settings.mode.value, choices(settings.respond, settings.mode.value))
        recording.passes.add_listener(control)
        if policy.chosen.get(CAUSE) == "stop":
            found = incidents.findings.found
            recording.passes.add_listener(EarlyStop(state, lambda: found, log, self.save, lambda: incidents.stopped))
        self.responder = Responder(state, policy, self.training, ranks, log, samples, lambda: incidents.stopped)

    def save(self) -> str:
        """Write the present state as the last good one; the answer says where it lies."""
        return self.training.write_last_good()


def went_back(replaying: Replaying, step: int | None) -> None:
    """Tell the checks that the state is that of an earlier step: what then looks healed was not healed by training.
    What observers had noted of the weights is no longer so, also where one update alone was taken back."""
    run = replaying.observed_run
    if step is not None:
        run.emit(WentBack(ref=run.ref("update", max(run.iteration - 1, 0)), to_step=step))
    replaying.dispatcher.missed()
