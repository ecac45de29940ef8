"""When a tram shuts its doors, learnt from rides: waiting lets people in, and costs time."""

import copy
import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(17)
random.seed(17)
WAIT, SHUT = 0, 1


class Doors(nn.Module):
    """The worth of waiting and of shutting, from who runs, who waits behind and how late it is."""

    def __init__(self):
        super().__init__()
        self.worth = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, stop):
        return self.worth(stop)


def ride(stop, act):
    running, behind, late = stop.tolist()
    if act == SHUT or late > 1.0:
        return torch.rand(3) * torch.tensor([1.0, 1.0, 0.2]), -running, True
    return torch.tensor([running * 0.5, min(behind + 0.2, 1.0), late + 0.25]), 0.5 * running - 0.3 * behind, False


doors = Doors()
slow_doors = copy.deepcopy(doors)
optimizer = torch.optim.Adam(doors.parameters(), lr=1e-3)
rides = deque(maxlen=4000)
stop = torch.rand(3)
for second in range(900):
    with torch.no_grad():
        act = random.randrange(2) if random.random() < 0.3 else int(doors(stop).argmax())
    after, gain, gone = ride(stop, act)
    rides.append((stop, act, gain, after, float(gone)))
    stop = after
    if len(rides) < 64:
        continue
    stops, acts, gains, afters, ended = (torch.as_tensor(c) if i in (1, 2, 4) else torch.stack(c) for i, c in enumerate(zip(*random.sample(rides, 48))))
    with torch.no_grad():
        wanted = gains + 0.95 * slow_doors(afters).amax(1) * (1 - ended)
    loss = nn.functional.smooth_l1_loss(doors(stops).gather(1, acts[:, None]).squeeze(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if second % 150 == 0:
        print(f"second {second} loss {loss.item():.4f}")
with torch.no_grad():
    print("worth of the fullest stop", doors(torch.tensor([1.0, 0.0, 0.0])).tolist())
