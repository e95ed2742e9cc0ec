"""A decode loop as of a small language model: many small kernels a step, which the CPU launches one by one.

    decode.py --seconds N [--device cpu] [--log FILE]

Prints the median of how many steps a second it made, over windows of 20 steps (2 on a CPU), the first second left out. --log writes
"TIME STEPS" at the end of each window, TIME by CLOCK_MONOTONIC, for who measures only a part of it.
"""

import argparse
import statistics
import time

import torch

WIDTH, HEADS, LAYERS, TOKENS, WINDOW = 768, 12, 12, 16, 20


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        heads = self.qkv(self.first(x)).chunk(3, dim=-1)
        q, k, v = (one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in heads)
        attention = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v
        x = x + self.out(attention.transpose(1, 2).flatten(2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--log", default="/dev/null")
    options = parser.parse_args()
    on_gpu = options.device == "cuda"
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    layers, window = (LAYERS, WINDOW) if on_gpu else (1, 2)
    model = torch.nn.Sequential(*[Layer(WIDTH) for _ in range(layers)]).to(options.device).eval()
    x = torch.randn(1, TOKENS, WIDTH, device=options.device)
    if on_gpu:
        model, x = model.half(), x.half()
    for _ in range(30):
        model(x)
    windows, steps, begin = [], 0, time.monotonic()
    with open(options.log, "w") as log:
        while len(windows) < 4 or windows[-4][0] < begin + 1 or windows[-1][0] < begin + options.seconds:
            for _ in range(window):
                model(x)
            if on_gpu:
                torch.cuda.synchronize()
            steps += window
            windows.append((time.monotonic(), steps))
            print(f"{windows[-1][0]:.6f} {steps}", file=log, flush=True)
    ends = [end for end, _ in windows]
    print(f"{statistics.median(window / (b - a) for a, b in zip(ends, ends[1:]) if a > begin + 1):.1f}")


if __name__ == "__main__":
    main()
