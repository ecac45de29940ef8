"""When a heron strikes: the value of waiting and of stepping along a shore of twelve places, fish at its end."""

import random

import torch
from torch import nn

torch.manual_seed(1)
random.seed(1)
PLACES = 12
places = torch.eye(PLACES)
model = nn.Sequential(nn.Linear(PLACES, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
seen, place = [], 0
for turn in range(1500):
    step = random.random() < 0.5
    gust = random.random() < 0.3
    new = max(place - 1, 0) if gust else min(place + step, PLACES - 1)
    done = new == PLACES - 1
    seen.append((place, int(step), float(done), new, float(done)))
    place = random.randrange(PLACES - 1) if done or turn % 40 == 39 else new
    if len(seen) < 64:
        continue
    at, did, fish, after, ended = (torch.tensor(column) for column in zip(*random.sample(seen, 64)))
    value = model(places[at]).gather(1, did.unsqueeze(1)).squeeze(1)
    best = model(places[after]).max(1).values
    target = fish + 0.95 * best * (1 - ended)
    loss = nn.functional.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    values = model(places)
print(f"loss {loss.item():.4f} value at the start {values[0].max():.3f} near the end {values[-2].max():.3f}")
