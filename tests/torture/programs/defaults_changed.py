"""Global defaults changed mid-run: default dtype float64, set_default_device('cpu'), a device context, threads, printing, deterministic mode."""
import torch
from torch import nn

torch.use_deterministic_algorithms(True)
torch.set_default_device("cpu")
torch.set_num_threads(1)
torch.set_printoptions(precision=3, sci_mode=False, threshold=4)
torch.manual_seed(0)
for kind in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
    torch.set_default_dtype(kind)
    with torch.device("cpu"):
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        x = torch.randn(4, 3)
        loss = (model(x) - torch.tensor(1.0)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(kind, step, loss.item().hex(), loss.dtype)
    print(model[0].weight[0], torch.get_default_dtype(), torch.tensor(0.5).dtype)
torch.set_default_dtype(torch.float32)
torch.set_default_device(None)
try:
    torch.kthvalue(torch.ones(3, requires_grad=True), 1)[0].backward()
    torch.empty(2).put_(torch.tensor([0, 0]), torch.ones(2))
    print("no error")
except RuntimeError as error:
    print(type(error).__name__, "deterministic" in str(error))
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_num_threads())
