"""What a program can see of its own start: argv, __name__, __file__, stdin, module search path, warnings, the main module."""
import os
import sys
import warnings

import torch

print(sys.argv[1:], os.path.basename(sys.argv[0]), __name__, os.path.basename(__file__), __doc__[:4])
print(sys.stdin.read(), sys.path[0] == os.path.dirname(os.path.abspath(__file__)), sys.modules["__main__"].__file__ == __file__)
print(sys.gettrace(), sys.getprofile(), sys.flags.optimize)
weight = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.5)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        loss = (weight * weight).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    warnings.warn("mine", stacklevel=1)
print(weight.tolist(), [str(w.message) for w in caught])
