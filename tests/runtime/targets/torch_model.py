"""Trains a small network, all of it under PyTorch's own profiler, and writes what that counted."""

import json
import sys

import torch
from torch import nn


def train(steps):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10),
                          nn.Softmax(1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = torch.randn(2, 3, 8, 8), torch.tensor([1, 2])
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(torch.log(model(images)), labels)
        loss.backward()
        optimizer.step()


def fail():
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError:
        return True
    return False


def call_boxed():
    """Operators by their schema, not by their C++ function."""
    ones = torch.ones(3)
    torch.ops.aten.add(ones, ones)
    torch.ops.aten.add(ones, ones)
    torch.jit.CompilationUnit("def f(x):\n  return torch.mul(x, x)\n").f(ones)


def operators():
    """{class of the operator in libtorch: its name}: {"add_Tensor": "aten::add"}."""
    names = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            overload = f"_{schema.overload_name}" if schema.overload_name else ""
            names[schema.name[6:] + overload] = schema.name
    return names


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.autograd.profiler.profile() as profiler:
        train(3)
        failed = sys.argv[2] == "fails" and fail()
        if sys.argv[2] == "boxed":
            call_boxed()
    counts = {}
    for event in profiler.function_events:
        if event.name.startswith("aten::"):
            counts[event.name] = counts.get(event.name, 0) + 1
    with open(sys.argv[1], "w") as out:
        json.dump({"counts": counts, "failed": failed, "operators": operators()}, out)
