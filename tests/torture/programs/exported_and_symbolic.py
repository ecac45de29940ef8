"""A model taken apart by torch.fx and trained as a GraphModule, exported by torch.export and trained on, traced mid-run by torch.jit."""
import warnings

import torch
from torch import fx, nn

warnings.filterwarnings("ignore")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 1)
        self.register_buffer("shift", torch.ones(1))

    def forward(self, x):
        return self.b(torch.relu(self.a(x))) + self.shift


def train(model, name, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        loss = model(torch.randn(5, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, step, loss.item().hex())


torch.manual_seed(0)
model = Model()
train(model, "plain")
graph = fx.symbolic_trace(model)
for node in graph.graph.nodes:
    if node.target is torch.relu:
        node.target = torch.tanh
graph.recompile()
print([n.name for n in graph.graph.nodes], len(graph.code.splitlines()))
train(graph, "symbolic")
seen = []
fx.Interpreter(graph).run(torch.ones(1, 4))
exported = torch.export.export(model, (torch.ones(5, 4),))
print(len(exported.graph.nodes), exported.graph_signature.buffers, exported.module()(torch.ones(5, 4)).sum().item().hex())
train(exported.module(), "exported")
traced = torch.jit.trace(model, torch.ones(5, 4))
train(traced, "traced")
model.requires_grad_(False)
print(torch.jit.trace(lambda v: model(v) * 2, torch.ones(1, 4))(torch.ones(1, 4)).item().hex())
