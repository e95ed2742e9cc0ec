"""Says which request a thread works for, step by step: `mlbcc serve --marker`, with works_for() of the library SERVE_MARKER.

Without that nothing is said."""

import contextlib
import contextvars
import ctypes
import functools
import itertools
import os

NUMBERS = itertools.count(1)
NUMBER = contextvars.ContextVar("NUMBER")
WORKS_FOR = ctypes.PyDLL(os.environ["SERVE_MARKER"]).works_for if "SERVE_MARKER" in os.environ else None
if WORKS_FOR:
    WORKS_FOR.argtypes, WORKS_FOR.restype = [ctypes.c_ulong], None


@contextlib.contextmanager
def working_for(number):
    WORKS_FOR(number)
    try:
        yield
    finally:
        WORKS_FOR(0)


def begin():
    """Until end(), what the thread does is for a new request."""
    if WORKS_FOR:
        WORKS_FOR(next(NUMBERS))


def end():
    if WORKS_FOR:
        WORKS_FOR(0)


class Steps:
    """A coroutine that is for request `number` whenever it goes on."""

    def __init__(self, coroutine, number):
        self.coroutine, self.number = coroutine, number

    def __await__(self):
        steps, answer = self.coroutine.__await__(), None
        while True:
            try:
                with working_for(self.number):
                    wanted = steps.send(answer)
            except StopIteration as end:
                return end.value
            answer = yield wanted


def of_request(coroutine):
    if WORKS_FOR is None:
        return coroutine
    number = next(NUMBERS)
    NUMBER.set(number)
    return Steps(coroutine, number)


def in_thread(work):
    """`work` is called in a thread of the pool, in the context of its coroutine."""
    if WORKS_FOR is None:
        return work

    @functools.wraps(work)
    def marked():
        with working_for(NUMBER.get()):
            return work()
    return marked
