"""Clocks that the program replaces, as tests of loops do: nobody else may draw from them."""

from unittest.mock import patch
import torch
CLOCKS = ("perf_counter", "monotonic", "time", "thread_time", "process_time", "perf_counter_ns", "monotonic_ns", "time_ns", "sleep")
torch.manual_seed(0)
model = torch.nn.Linear(3, 1); opt = torch.optim.SGD(model.parameters(), lr=0.1)
asked = {}
for name in CLOCKS:
    with patch(f"time.{name}", side_effect=StopIteration) as clock:
        for _ in range(5):
            opt.zero_grad(); model(torch.ones(4, 3)).pow(2).mean().backward(); opt.step()
    asked[name] = clock.call_count
print(asked)
