"""EmbeddingBag with sparse gradients, offsets and per-sample weights; gradients coalesced, clipped and turned dense by hand; sparse inputs."""
import torch
from torch import nn

torch.manual_seed(0)
bag, table = nn.EmbeddingBag(30, 5, sparse=True, mode="sum"), nn.Embedding(30, 5, sparse=True, max_norm=1.0)
linear = nn.Linear(5, 1)
lazy = torch.optim.SparseAdam([*bag.parameters()], lr=0.05)
sgd = torch.optim.SGD([*table.parameters(), *linear.parameters()], lr=0.1)
for step in range(5):
    ids, offsets = torch.randint(0, 30, (10,)), torch.tensor([0, 3, 3, 7])
    h = bag(ids, offsets, per_sample_weights=torch.rand(10)) + table(torch.randint(0, 30, (4,)))
    adjacency = torch.sparse_coo_tensor([[0, 1, 2, 3], [1, 0, 3, 2]], torch.ones(4), (4, 4))
    loss = linear(torch.sparse.mm(adjacency, h)).pow(2).mean()
    lazy.zero_grad()
    sgd.zero_grad()
    loss.backward()
    grad = bag.weight.grad.coalesce()
    bag.weight.grad = torch.sparse_coo_tensor(grad.indices(), grad.values().clamp(-0.1, 0.1), grad.shape)
    if step == 3:
        table.weight.grad = table.weight.grad.to_dense()
    lazy.step()
    sgd.step()
    print(step, loss.item().hex(), grad._nnz(), table.weight.grad.layout, bag.weight.grad.is_coalesced())
    if step == 3:
        table.weight.grad = None
csr = torch.eye(4).to_sparse_csr()
print(linear(csr @ torch.ones(4, 5)).sum().item().hex(), bag.weight.double().sum().item().hex(), table.weight.double().sum().item().hex())
