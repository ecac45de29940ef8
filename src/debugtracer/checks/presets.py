"""Named sets of options: check -> option -> value. `seed` holds the thresholds that articles give, guards kept.

What became of each as a default: (docs/rationale/checks.md#article-thresholds)."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {},
    "seed": {
        "data/constant-feature": {"from_first": True},  # standard deviation 0
        "data/dtype-drift": {"allowed": ("float32", "float64")},  # of floating tensors: ids are integers
        "data/range-extreme": {"most": 1e4},  # max - min
        "model/dead-units": {"half": 0.5},
        "model/gradient-limits": {
            "norm_high": 1e3,
            "norm_low": 1e-5,
            "ratio": 1e-5,  # norm over norm, "persistently"; both ways (docs/rationale/checks.md#norm-ratio)
            "std_ratio": 100.0,
        },
        "model/logit-divergence": {"surest": 10.0},  # a logit beyond 10: a softmax only knows distances
        "model/vanishing-gradient": {"first_to_last": 1e-3},  # attenuated by more than three orders
        # Transformers 0.5 to 1, recurrent networks 5 to 10
        "optimizer/clip-share": {"lowest": 0.5, "attention": 1.0, "recurrent": 5.0, "highest": 10.0},
        "optimizer/loss-spike": {"sigma_max": 3.0},  # 3 sigma over a window of 100
        "optimizer/moment-limits": {"times": 1.5, "rise": 0.15, "least_v": 1e-10},
    },
}
