"""How much the judge does at a time, and how long it rests: its thread holds the interpreter that the training
needs."""

from __future__ import annotations

from time import perf_counter, process_time, thread_time

EVERY_S = 0.25  # seconds between two looks at what has come (ours): a finding is told within about a second
SLICE_S = (
    0.001  # CPU seconds the interpreter is held at a time (ours): 20 slices a second meet less than 1 % of short steps
)
SHARE = 0.02  # of the time, while the training goes on (docs/rationale/performance.md#budget)
# the same while all rests (ours): a sixth of what is promised; what stands out is judged whatever it costs
REST_SHARE = 0.005
LONGEST_S = 1.0  # seconds of the longest rest (ours)
MOST = 64  # steps at a time, however cheap they are (ours)
MOST_SHARED = 4.0  # times longer it rests at most where others use the machine too, so that its share stays (ours)
NEW = 0.2  # weight of the last slice in what a step costs (ours)


class Pace:
    """Used by the judge's thread alone: one clock is read for each slice, none for each step."""

    def __init__(self) -> None:
        self.used_s = 0.0
        """CPU seconds of the thread so far, waiting and waking included."""
        self.slice_s = 0.0
        """CPU seconds of the last slice."""
        self.step_s = 1e-4
        """What a step costs, CPU seconds."""
        self.clocks = perf_counter(), process_time()
        self.shared = 1.0
        """Seconds that passed for each one the process could use."""

    @property
    def steps(self) -> int:
        """How many steps the next slice may hold."""
        return max(min(int(SLICE_S / self.step_s), MOST), 1)

    def took(self, steps: int) -> float:
        """Count a slice that is over; return its CPU seconds."""
        used = thread_time()
        self.slice_s, self.used_s = used - self.used_s, used
        if steps:
            self.step_s = max((1 - NEW) * self.step_s + NEW * self.slice_s / steps, 1e-7)
        clocks = perf_counter(), process_time()
        passed, had = clocks[0] - self.clocks[0], clocks[1] - self.clocks[1]
        self.shared = max(min(passed / had, MOST_SHARED), 1.0) if had > 0 else 1.0
        self.clocks = clocks
        return self.slice_s

    def rest(self, waiting: bool, share: float = SHARE) -> float:
        """Return the seconds until the next slice: as long as its share demands, longer where nothing waits."""
        needed = min(self.slice_s * (1 / share - 1) * self.shared, LONGEST_S)
        return needed if waiting else max(needed, EVERY_S)
