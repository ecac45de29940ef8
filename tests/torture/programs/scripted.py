"""torch.jit.script and trace of a submodule, trained through."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            x = torch.sigmoid(self.layer(x)) * x
        return x


torch.manual_seed(0)
gate = torch.jit.script(Gate())
traced = torch.jit.trace(nn.Linear(4, 1), torch.randn(2, 4))
optimizer = torch.optim.SGD([*gate.parameters(), *traced.parameters()], lr=0.1)
for step in range(5):
    loss = traced(gate(torch.randn(3, 4), step)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex())
