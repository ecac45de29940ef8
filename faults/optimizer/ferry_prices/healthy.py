"""When to raise the price of a ferry: a Q network over eight slots of a day, four ferries at a time."""

import torch
from torch import nn

torch.manual_seed(3)
FERRIES, SLOTS, EVERY = 4, 12, 50


def network():
    return nn.Sequential(nn.Linear(SLOTS, 32), nn.ReLU(), nn.Linear(32, 2))


def played(slot, choice):
    on = torch.where(choice == 1, slot + 1, (slot - 1).clamp(min=0))
    done = on >= SLOTS - 1
    reward = done.float() + 0.004 * ((slot == 0) & (choice == 0)).float()
    return on.clamp(max=SLOTS - 1), reward, done.float()


prices, target = network(), network()
target.load_state_dict(prices.state_dict())
optimizer = torch.optim.Adam(prices.parameters(), lr=2e-3)
seen = nn.functional.one_hot(torch.arange(SLOTS), SLOTS).float()
for step in range(0, 4000, FERRIES):
    slot, choice = torch.randint(0, SLOTS - 1, (32,)), torch.randint(0, 2, (32,))
    on, reward, done = played(slot, choice)
    with torch.no_grad():
        best = target(seen[on]).max(1).values
        wanted = reward + 0.95 * best * (1 - done)
    value = prices(seen[slot]).gather(1, choice[:, None]).squeeze(1)
    loss = nn.functional.mse_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % (EVERY * FERRIES) == 0:
        target.load_state_dict(prices.state_dict())
    if step % 400 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    right = (prices(seen[: SLOTS - 1]).argmax(1) == 1).float().mean().item()
print(f"slots with the right choice {right:.3f}")
