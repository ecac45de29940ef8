from __future__ import annotations

import math
import random

from debugtracer.checks.device.memory_growth import MemoryGrowth, kendall, theil_sen
from debugtracer.trace.facts.memory import Memory
from tests.checks.windows import ref, told

GB = 10**9


def found(resident, allocated=None, kept=None):
    facts = [
        Memory(
            ref=ref(10 * n),
            resident=int(r),
            allocated=None if allocated is None else int(allocated[n]),
            reserved=None,
            total=80 * GB if allocated else None,
            kept=0 if kept is None else int(kept[n]),
        )
        for n, r in enumerate(resident)
    ]
    return list(MemoryGrowth().judge(told(*facts[-Memory.KEEP :], step=10 * len(facts))))


def test_a_process_that_grows():
    (one,) = found([0.5 * GB + n * 2e6 for n in range(61)])
    assert one.severity == "note"
    assert one.message.endswith(
        "the process holds 3.2 % more memory (20 MB) per 100 steps, 0.62 GB now; expected a level after the first 100 "
        "steps. "
        "Look for what is stored in each step."
    )


def test_a_level_noise_and_the_warm_up_are_silent():
    dice = random.Random(1)
    assert found([0.5 * GB] * 61) == []
    assert found([0.5 * GB + dice.uniform(-2e7, 2e7) for _ in range(61)]) == []
    assert found([0.3 * GB + n * 2e7 for n in range(10)] + [0.5 * GB] * 51) == []


def test_while_what_we_keep_ourselves_grows_nothing_is_said():
    grown = [0.5 * GB + n * 2e6 for n in range(61)]
    assert found(grown, kept=[n * 1e6 for n in range(61)]) == []
    assert len(found(grown, kept=[min(n * 1e6, 2e7) for n in range(61)])) == 1


def test_one_jump_is_no_growth():
    assert found([0.5 * GB + n * 1e5 + (n > 30) * 2e8 for n in range(61)]) == []
    assert len(found([0.5 * GB + n * 3e6 + (n > 30) * 2e8 for n in range(61)])) == 1


def test_the_accelerator_is_judged_by_its_size():
    assert len(found([0] * 61, allocated=[GB + n * 2e7 for n in range(61)])) == 1
    assert found([0] * 61, allocated=[GB + n * 1e6 for n in range(61)]) == []


def test_slope_and_rank_test():
    assert theil_sen([0, 1, 2, 3, 4], [0, 2, 4, 6, 100]) == 2
    assert kendall([1, 2, 3, 4, 5, 6, 7, 8]) > 2.58 > kendall([1, 3, 2, 4])


def test_kendalls_score_is_the_sum_of_pairs_over_its_spread_without_a_trend():
    """n (n - 1) (2 n + 5) / 18: Kendall, Rank Correlation Methods, 1948."""
    assert math.isclose(kendall([1, 2, 3, 4, 5, 6, 7, 8]), 28 / math.sqrt(8 * 7 * 21 / 18))
    assert math.isclose(kendall([4, 3, 2, 1]), -6 / math.sqrt(4 * 3 * 13 / 18))
    assert math.isclose(kendall([1, 3, 3, 2]), 1 / math.sqrt(4 * 3 * 13 / 18))
    assert kendall([5, 5, 5]) == 0
