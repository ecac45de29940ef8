"""Parametrizations: weight_norm in both spellings, spectral_norm in both, orthogonal, own ones (symmetric), cached, and removed again."""
import warnings

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

warnings.filterwarnings("ignore")


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, a):
        return a.triu()


torch.manual_seed(0)
model = nn.Sequential(
    nn.utils.weight_norm(nn.Linear(4, 4)), parametrizations.weight_norm(nn.Linear(4, 4)), nn.utils.spectral_norm(nn.Linear(4, 4)), nn.Tanh(),
    parametrizations.spectral_norm(nn.Linear(4, 4)), parametrizations.orthogonal(nn.Linear(4, 4)), nn.Linear(4, 4))
parametrize.register_parametrization(model[-1], "weight", Symmetric())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(6, 4)
    with parametrize.cached():
        loss = (model(x) + model(x * 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), torch.equal(model[-1].weight, model[-1].weight.T), type(model[-1]).__name__)
print([n for n, _ in model.named_parameters()])
nn.utils.remove_weight_norm(model[0])
nn.utils.remove_spectral_norm(model[2])
parametrize.remove_parametrizations(model[-1], "weight")
print(model[4].weight.double().sum().item().hex(), model[5].weight.double().sum().item().hex(), model(torch.ones(1, 4)).sum().item().hex())
