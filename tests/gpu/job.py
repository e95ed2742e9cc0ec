"""Work for a GPU, the same in each run: a training step, a Triton kernel, a CUDA graph.

    job.py train|triton|graph [--steps N] [--device cpu] [--can-run] [--profile FILE] [--facts FILE]

--profile writes what PyTorch's profiler saw of N repetitions (10) of the work; --facts what PyTorch itself
knows of the whole process at its end. --can-run ends with 1 where the work cannot be done here. On the
CPU only `train` can, without kernels: so this program is tried where there is no GPU.
"""

import argparse
import collections
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import torch


def train(device):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(),
                                torch.nn.Linear(4096, 1000)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data, labels = torch.randn(256, 1024), torch.randint(1000, (256,))

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def triton(device):
    import triton as tr
    import triton.language as tl

    @tr.jit
    def add_one(x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    values = torch.zeros(1 << 20, device=device)

    def step():
        add_one[(values.numel() // 1024,)](values, values.numel(), BLOCK=1024)
        torch.cuda.synchronize()
    return step


def graph(device):
    x = torch.randn(512, 512, device=device)
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


def profile(step, steps):
    """Of so many repetitions: kernels run, by name, and bytes copied, by direction."""
    activities = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(steps):
            step()
    with tempfile.TemporaryDirectory() as folder:  # PyTorch puts a file of its own in the place of one that is there
        file = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(file))
        trace = json.loads(file.read_text())
    events = trace if isinstance(trace, list) else trace["traceEvents"]  # a list where torch was built for no GPU
    kernels, copied = collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") == "kernel":
            kernels[event["name"]] += 1
        elif event.get("cat") == "gpu_memcpy":
            copied[event["name"]] += event["args"]["bytes"]
    return {"steps": steps, "kernels": kernels, "copied": copied}


def facts(device, steps):
    on_gpu = device == "cuda"
    return {"steps": steps, "reserved": torch.cuda.max_memory_reserved() if on_gpu else 0,
            "device": torch.cuda.get_device_name() if on_gpu else "cpu", "torch": torch.__version__,
            "cuda": torch.version.cuda}


def can_run(work, device):
    if device == "cpu":
        return work == "train"
    return torch.cuda.is_available() and (work != "triton" or importlib.util.find_spec("triton") is not None)


def mark(device, name):
    """The beginning and the end of what is compared: the driver sees the calls."""
    if device == "cuda":
        torch.cuda.synchronize()
        getattr(torch.cuda.cudart(), name)()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=("train", "triton", "graph"))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--can-run", action="store_true")
    parser.add_argument("--profile")
    parser.add_argument("--facts")
    options = parser.parse_args()
    if options.can_run:
        sys.exit(0 if can_run(options.work, options.device) else 1)
    step = {"train": train, "triton": triton, "graph": graph}[options.work](options.device)
    step()  # what happens the first time is left out by both
    if options.profile:
        with open(options.profile, "w") as file:
            json.dump(profile(step, options.steps), file, indent=1)
        return
    mark(options.device, "cudaProfilerStart")
    for _ in range(options.steps):
        step()
    mark(options.device, "cudaProfilerStop")
    if options.facts:
        with open(options.facts, "w") as file:
            json.dump(facts(options.device, options.steps), file, indent=1)


if __name__ == "__main__":
    main()
