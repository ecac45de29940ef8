"""Gradient-free training: evolution strategies over parameters_to_vector, weights swapped in and out many times per generation."""
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
torch.set_grad_enabled(False)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.randn(12, 3), torch.randn(12, 1)
centre = parameters_to_vector(model.parameters()).clone()
for generation in range(5):
    noise = torch.randn(6, centre.numel())
    scores = []
    for row in torch.cat([noise, -noise]):
        vector_to_parameters(centre + 0.1 * row, model.parameters())
        scores.append(-(model(x) - y).pow(2).mean())
    ranks = torch.stack(scores).argsort().argsort().float() / 11 - 0.5
    centre += 0.1 * (ranks[:, None] * torch.cat([noise, -noise])).mean(0)
    vector_to_parameters(centre, model.parameters())
    print(generation, max(scores).item().hex(), (model(x) - y).pow(2).mean().item().hex())
model.weight_history = [p.data_ptr() != 0 for p in model.parameters()]
print(model.weight_history, centre.double().sum().item().hex(), torch.is_grad_enabled())
