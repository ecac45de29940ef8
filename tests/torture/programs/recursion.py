"""Modules that call themselves, call each other, and one module used three times in a forward."""
import torch
from torch import nn


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.join = nn.Linear(8, 4)

    def forward(self, node):
        if isinstance(node, torch.Tensor):
            return node
        left, right = (self(child) for child in node)
        return torch.tanh(self.join(torch.cat([left, right], -1)))


torch.manual_seed(0)
tree = Tree()
head = nn.Linear(4, 1)
optimizer = torch.optim.Adagrad([*tree.parameters(), *head.parameters()], lr=0.1)
for step in range(4):
    leaves = [torch.randn(2, 4) for _ in range(5)]
    root = ((leaves[0], (leaves[1], leaves[2])), (leaves[3], leaves[4]))
    loss = head(tree(root)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex())
