"""Work for a GPU, the same in each run: a training step, a Triton kernel, a CUDA graph.

    job.py train|triton|graph [--can-run] [--profile FILE] [--facts FILE]

--profile writes what PyTorch's profiler saw of one repetition of the work; --facts what PyTorch itself
knows of the whole process at its end. The work is repeated STEPS times.
"""

import argparse
import collections
import json
import sys

import torch

STEPS = 10


def train():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(),
                                torch.nn.Linear(4096, 1000)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, labels = torch.randn(256, 1024), torch.randint(1000, (256,))

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def triton():
    import triton as tr
    import triton.language as tl

    @tr.jit
    def add_one(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    values = torch.zeros(1 << 20, device="cuda")

    def step():
        add_one[(values.numel() // 1024,)](values, values.numel(), BLOCK=1024)
        torch.cuda.synchronize()
    return step


def graph():
    x = torch.randn(512, 512, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch.relu(x @ x)
    torch.cuda.current_stream().wait_stream(stream)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        y = x
        for _ in range(20):
            y = torch.relu(y @ x)

    def step():
        recorded.replay()
        torch.cuda.synchronize()
    return step


def profile(step):
    """Of STEPS repetitions: kernels run, by name, and bytes copied, by direction."""
    activities = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(STEPS):
            step()
    profiler.export_chrome_trace("/tmp/mlbcc-gpu-profile.json")
    with open("/tmp/mlbcc-gpu-profile.json") as file:
        events = json.load(file)["traceEvents"]
    kernels, copied = collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") == "kernel":
            kernels[event["name"]] += 1
        elif event.get("cat") == "gpu_memcpy":
            copied[event["name"]] += event["args"]["bytes"]
    return {"steps": STEPS, "kernels": kernels, "copied": copied}


def facts():
    return {"steps": STEPS, "reserved": torch.cuda.max_memory_reserved(),
            "device": torch.cuda.get_device_name(), "torch": torch.__version__,
            "cuda": torch.version.cuda}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=("train", "triton", "graph"))
    parser.add_argument("--can-run", action="store_true")
    parser.add_argument("--profile")
    parser.add_argument("--facts")
    options = parser.parse_args()
    if options.can_run:
        if options.work == "triton":
            try:
                import triton  # noqa: F401
            except ImportError:
                sys.exit(1)
        return
    step = {"train": train, "triton": triton, "graph": graph}[options.work]()
    step()  # what happens the first time is left out by both
    torch.cuda.synchronize()
    if options.profile:
        with open(options.profile, "w") as file:
            json.dump(profile(step), file, indent=1)
        return
    # Marks the beginning and the end of what is compared: the driver sees the calls.
    torch.cuda.cudart().cudaProfilerStart()
    for _ in range(STEPS):
        step()
    torch.cuda.cudart().cudaProfilerStop()
    if options.facts:
        with open(options.facts, "w") as file:
            json.dump(facts(), file, indent=1)


main()
