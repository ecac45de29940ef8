"""Everything that can be compiled, with the graphs, breaks and recompiles that Dynamo counts; stdout holds the counts and the losses."""

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.distributions import Categorical

made = []


def backend(graph, inputs):
    made.append(len(graph.graph.nodes))
    return graph.forward


def told(name, losses):
    breaks = sum(counters["graph_break"].values())
    print(name, "graphs", len(made), "breaks", breaks, "stats", dict(counters["stats"]), *(f"{v:.9g}" for v in losses), flush=True)
    made.clear()
    counters.clear()
    torch._dynamo.reset()


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 3))

    def forward(self, x):
        for part in self:
            x = part(x)
        return x


def net():
    torch.manual_seed(1)
    return Net()


def loop(call, model, optimizer=None, step=None, sizes=(8, 8, 8, 8, 8)):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for rows in sizes:
        x = torch.randn(rows, 6)
        loss = nn.functional.cross_entropy(call(x), torch.zeros(rows, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        (step or optimizer.step)()
        losses.append(loss.item())
    return losses


model = net()
told("module", loop(torch.compile(model, backend=backend), model))
model = net()
told("fullgraph", loop(torch.compile(model, backend=backend, fullgraph=True), model))
model = net()
model.compile(backend=backend, fullgraph=True)
told("in place", loop(model, model))
model = net()
told("shapes", loop(torch.compile(model, backend=backend), model, sizes=(8, 8, 5, 7, 3)))
model = net()
told("dynamic", loop(torch.compile(model, backend=backend, dynamic=True), model, sizes=(8, 4, 5, 7, 3)))
model = net()
model[0] = torch.compile(model[0], backend=backend)
told("part", loop(model, model))
model = net()
optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-2))
told("optimizer", loop(torch.compile(model, backend=backend), model, optimizer, torch.compile(optimizer.step, backend=backend)))
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend=backend)
def whole_step(x):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


told("whole step", [whole_step(torch.randn(8, 6)).item() for _ in range(4)])


@torch.compile(backend=backend, fullgraph=True)
def smooth(logits, y):
    return nn.functional.cross_entropy(logits, y, label_smoothing=0.1) + 1e-3 * logits.square().mean()


model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for _ in range(4):
    loss = smooth(model(torch.randn(8, 6)), torch.ones(8, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
told("function", losses)

model = net()
compiled = torch.compile(model, backend=backend)
losses = loop(compiled, model)
compiled.eval()
with torch.no_grad():
    losses.append(compiled(torch.ones(4, 6)).sum().item())
compiled.train()
told("evaluation", losses + loop(compiled, model))

model = net()
compiled = torch.compile(model, backend=backend)
losses = []
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for k in range(6):
    loss = compiled(torch.randn(8, 6)).square().mean() / 2
    loss.backward()
    if k % 2:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    losses.append(loss.item())
told("accumulated", losses)

torch.manual_seed(2)
policy = torch.compile(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)), backend="aot_eager")
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
losses = []
for episode in range(4):
    state, logs, rewards = torch.randn(4), [], []
    for _ in range(5):
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        logs.append(choice.log_prob(action))
        state = state + 0.1 * torch.randn(4)
        rewards.append(float(action == (state[0] > 0)))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(logs) * (returns - returns.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
told("reinforce", losses)
