"""The program changes directory, environment, umask and sys.path, edits sys.argv, deletes its own copy on disk, and is run again by runpy."""
import linecache
import os
import runpy
import shutil
import sys
import tempfile

import torch
from torch import nn

again = __name__ != "__main__"
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(3):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("again" if again else "first", step, loss.item().hex())
if not again:
    folder = tempfile.mkdtemp()
    copy = shutil.copy(__file__, os.path.join(folder, "copied.py"))
    old = os.getcwd()
    os.chdir(folder)
    os.umask(0o077)
    sys.argv[:] = ["renamed", "--nothing"]
    sys.path.insert(0, folder)
    names = runpy.run_path(copy, run_name="not_main")
    import copied

    os.remove(copy)
    linecache.clearcache()
    shutil.rmtree(folder)
    try:
        os.getcwd()
    except FileNotFoundError:
        print("the ground is gone")
    loss = copied.model(torch.ones(1, 3)).sum()
    loss.backward()
    copied.optimizer.step()
    print(sorted(k for k in names if not k.startswith("_")), loss.item().hex(), sys.argv)
    os.environ["HOME"] = "/nowhere"
    try:
        copied.model(torch.ones(1, 4))
    except RuntimeError as error:
        print(str(error)[:40])
    os.chdir(old)
