"""A job that loads a model's weights of more than 200 MB from disk and runs it 50 times.

    torch_inference.py make WEIGHTS     writes the weights
    torch_inference.py run WEIGHTS LOG [ROWS]
                                        loads and runs, of so many rows (1); LOG gets a time (CLOCK_MONOTONIC)
                                        a step, as JSON,
                                        and the CPU time of all of them
"""

import json
import sys
import time

# `clock` is what the wall clock is ahead of the others' clock.
times = {"begin": time.monotonic(), "clock": time.time() - time.monotonic()}

import torch  # noqa: E402  (its import is a step)

LAYERS, WIDTH, REPETITIONS = 52, 1024, 50


def model():
    return torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)])


def run(weights, log, rows="1"):
    times["imported"] = time.monotonic()
    net = model()
    times["made"] = time.monotonic()
    net.load_state_dict(torch.load(weights))
    times["loaded"] = time.monotonic()
    batch = torch.ones(int(rows), WIDTH)
    times["repetitions"] = []
    with torch.no_grad():
        for _ in range(REPETITIONS):
            net(batch)
            times["repetitions"].append(time.monotonic())
    times["cpu"] = time.process_time()
    with open(log, "w", encoding="utf-8") as out:
        json.dump(times, out)


if sys.argv[1] == "make":
    torch.save(model().state_dict(), sys.argv[2])
else:
    run(*sys.argv[2:])
