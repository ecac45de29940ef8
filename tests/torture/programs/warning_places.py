"""Where a warning of torch itself is said to come from: file, line and category of what C++ and Python warn of, inside and outside of modules."""
import os
import warnings

import torch
from torch import nn

torch.set_warn_always(True)


class Warns(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        h = self.layer(x)
        torch.ones(1).std()
        return h + torch.complex(h.detach(), h.detach()).to(torch.float32) * 0.1


torch.manual_seed(0)
model = Warns()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step in range(3):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = nn.functional.mse_loss(model(torch.randn(4, 3)), torch.zeros(4, 1))
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            scheduler.step()
        optimizer.step()
        float(loss)
        torch.eye(2).to_sparse_csr()
    print(step, loss.item().hex(), sorted((os.path.basename(w.filename), w.lineno, w.category.__name__, str(w.message)[:24]) for w in caught))
warnings.filterwarnings("ignore", module="__main__")
torch.ones(1).std()
print(len(__warningregistry__) if "__warningregistry__" in globals() else 0)  # noqa: F821
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    loader = torch.utils.data.DataLoader(torch.randn(8, 3), batch_size=4, pin_memory=True, pin_memory_device="cpu", num_workers=0)
    for x in loader:
        model(x).sum().backward()
    try:
        torch.utils.data.DataLoader(torch.randn(8, 3), batch_size=4, prefetch_factor=2)
    except ValueError as error:
        print(error.__traceback__.tb_lineno, os.path.basename(error.__traceback__.tb_frame.f_code.co_filename))
print(sorted((os.path.basename(w.filename), w.lineno, str(w.message)[:24]) for w in caught))
