"""What a boat in the queue of a slipway costs until it is in the water: a network is fitted to one more hour each
round."""

import torch
from torch import nn

torch.manual_seed(5)


def network():
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))


def next_hour(queue, tide, g):
    """Boats come, and leave while the water is high."""
    arrived = torch.rand(queue.shape, generator=g) * 0.2
    served = 0.25 * (tide > 0.4)
    return (queue + arrived - served).clamp(0, 1), (tide + 0.17) % 1


g = torch.Generator().manual_seed(9)
current, frozen = network(), network()
frozen.load_state_dict(current.state_dict())
optimizer = torch.optim.Adam(current.parameters(), lr=2e-3)
for iteration in range(24):
    queue, tide = torch.rand(512, generator=g), torch.rand(512, generator=g)
    state = torch.stack([queue, tide], 1)
    later = torch.stack(next_hour(queue, tide, g), 1)
    with torch.no_grad():
        cost = queue + 0.9 * frozen(later).squeeze(1)
    for rows in torch.randperm(512, generator=g).split(32):
        loss = nn.functional.mse_loss(current(state[rows]).squeeze(1), cost[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    frozen.load_state_dict(current.state_dict())
    if iteration % 4 == 3:
        print(f"iteration {iteration} loss {loss.item():.4f} cost {cost.mean().item():.3f}")
with torch.no_grad():
    full = torch.tensor([[1.0, 0.5]])
    print(f"a full queue costs {current(full).item():.2f}")
