"""A graph network: a sparse COO adjacency as a buffer, CSR as an argument, a sparse target, sparse tensors in the batch and in the state dict."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")


class Graph(nn.Module):
    def __init__(self, n):
        super().__init__()
        edges = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
        self.register_buffer("adjacency", torch.sparse_coo_tensor(edges, torch.ones(6), (n, n)).coalesce())
        self.register_buffer("counts", torch.zeros(n, dtype=torch.long).to_sparse())
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x, other):
        h = torch.relu(torch.sparse.mm(self.adjacency, self.first(x)))
        return self.second(other @ h), torch.sparse.softmax(self.adjacency, 1)


torch.manual_seed(0)
model = Graph(5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
csr = torch.eye(5).to_sparse_csr()
for step in range(5):
    out, soft = model(torch.randn(5, 3), csr if step % 2 else torch.eye(5).to_sparse())
    target = torch.tensor([0, 1, 0, 0, 1]).to_sparse()
    loss = nn.functional.cross_entropy(out, target.to_dense()) + torch.sparse.sum(soft * 0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.counts = (model.counts + target).coalesce()
    print(step, loss.item().hex(), model.counts._nnz(), soft.layout)
print(list(model.state_dict()), [p.double().sum().item().hex() for p in model.parameters()])
