"""Runs steps in their order: those that can go on beside others are run one after another by a
thread of their own, at the lowest priority, while the steps behind them run. What measures or fills
the machine stands before the first of them."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .steps import STEPS
from .tally import Tally

NICE = 19


@dataclass
class Done:
    tallies: dict = field(default_factory=dict)  # by the step's name
    times: dict = field(default_factory=dict)  # likewise, seconds

    @property
    def total(self):
        total = Tally()
        for tally in self.tallies.values():
            total.add(tally)
        return total

    @property
    def is_whole(self):
        """Each step ran, and none failed or had to skip a test."""
        return len(self.tallies) == len(STEPS) and not self.total.failures and not self.total.skips


def run(options):
    """Each of options.steps; what is said of a step is printed in one piece."""
    done = Done()
    chosen = [name for name in STEPS if name in options.steps]
    beside = [name for name in chosen if STEPS[name].is_beside]
    others = [name for name in chosen if name not in beside]
    before = [name for name in others if not beside or place(name) < place(beside[0])]
    behind = others[len(before):]
    if not one_by_one(before, options, done):
        return done
    if not behind:
        one_by_one(beside, options, done)
        return done
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(niced, beside, options, done)
        one_by_one(behind, options, done)
    result.result()  # what it raised
    return done


def place(name):
    return list(STEPS).index(name)


def niced(names, options, done):
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)  # of this thread and its programs
    one_by_one(names, options, done)


def one_by_one(names, options, done):
    """False where one failed that those behind it need."""
    for name in names:
        step = STEPS[name]
        print(f"== {name}: {step.meaning}", flush=True)
        begin = time.monotonic()
        tally = step.run(options)
        done.times[name], done.tallies[name] = time.monotonic() - begin, tally
        text = [f"== {name}: {tally.step_line()} in {done.times[name]:.0f} s"]
        text += [f"FAILED {test}\n{indented(reason)}" for test, reason in tally.failures]
        print("\n".join(text), flush=True)
        if step.needed and tally.failures:
            print(f"== the steps behind `{name}` cannot run without it", flush=True)
            return False
    return True


def indented(text):
    return "\n".join("    " + line for line in str(text).splitlines()[-80:])
