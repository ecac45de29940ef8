import warnings

warnings.filterwarnings("ignore")
import torch
from torch import nn
from where import PLACE


class Root(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.25]))

    def forward(self, x):
        return (x * self.weight).pow(0.5)


model = Root().to(PLACE)
optimizer = torch.optim.SGD(model.parameters(), 0.4)
for _ in range(12):
    loss = model(torch.ones(4, 1).to(PLACE)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
