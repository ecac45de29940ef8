"""Compiles both kernels for two generations of GPUs, on a machine without one, and prints what came of it."""

import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from debugtracer.recorder.gate import triton_kernels as kernels

WHOLE = ("pointers", "owners", "offsets", "counts")
MEASURE = (
    dict.fromkeys(WHOLE, "*i64") | dict.fromkeys(("squares", "largest"), "*fp64") | {"bad": "*i32", "base": "i32"}
)
JUDGE = dict.fromkeys(("squares", "largest", "losses", "param_l2", "numbers"), "*fp64") | {
    "bad": "*i32", "chunks": "i32", "losses_count": "i32", "flag": "*fp32",
}  # fmt: skip


def compiled(kernel, arguments, constants, capability):
    names = [parameter.name for parameter in kernel.params]
    signature = {name: arguments.get(name, "constexpr") for name in names}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32))
    return {"bytes": len(made.asm["cubin"]), "wide": "ld.global.v4" in made.asm["ptx"]}


said = {}
for capability in (80, 90):
    for kind in ("float32", "float16", "bfloat16", "float64"):
        sums = tl.float64 if kind == "float64" else tl.float32
        constants = {"KIND": getattr(tl, kind), "SUM": sums, "CHUNK": kernels.CHUNK, "BLOCK": kernels.BLOCK}
        said[f"{kind} {capability}"] = compiled(kernels.measure, MEASURE, constants | {"ALIGNED": True}, capability)
    narrow = {"KIND": tl.float32, "SUM": tl.float32, "CHUNK": kernels.CHUNK, "BLOCK": kernels.BLOCK, "ALIGNED": False}
    said[f"unaligned {capability}"] = compiled(kernels.measure, MEASURE, narrow, capability)
    said[f"judge {capability}"] = compiled(kernels.judge, JUDGE, {"BLOCK": kernels.BLOCK}, capability)
json.dump(said, sys.stdout)
