"""Calls getppid() and fdatasync() from all kinds of Python functions, and says for each call which
functions it was made in: [name of the thread, innermost first "file:function"], by Python itself."""

import ctypes
import functools
import json
import os
import sys
import threading

DEVICE = os.memfd_create("python_calls")
WRITE = os.write
said = []


def functions(frame):
    """The first 64, as a trace has them, and a mark where there are more."""
    names = []
    while frame is not None:
        names.append(f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_code.co_name}")
        frame = frame.f_back
    return names if len(names) <= 64 else names[:64] + ["..."]


def mark():
    said.append((threading.get_native_id(), functions(sys._getframe())))
    os.getppid()


def unlocked():
    """Others run Python meanwhile."""
    said.append((threading.get_native_id(), functions(sys._getframe())))
    os.fdatasync(DEVICE)


def nested():
    def inner():
        mark()
    inner()


def recursion(depth):
    recursion(depth - 1) if depth > 0 else mark()


def generator():
    mark()
    yield 1
    mark()
    yield from second_generator()


def second_generator():
    mark()
    yield 2


async def coroutine():
    mark()
    await second_coroutine()


async def second_coroutine():
    mark()


class Thing:
    def method(self):
        mark()

    @property
    def value(self):
        mark()
        return [mark() for _ in range(2)]

    def __lt__(self, other):
        mark()
        return False


def callbacks():
    """Python, C, Python again."""
    sorted([Thing(), Thing()])
    sorted([3, 1], key=lambda number: mark() or number)
    functools.reduce(lambda a, b: mark(), [1, 2, 3])
    values = (ctypes.c_int * 3)(3, 1, 2)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def by_qsort(_left, _right):
        mark()
        return 0

    ctypes.CDLL(None).qsort(values, 3, 4, compare(by_qsort))


def made_at_run_time():
    """Each function takes the place of the one before it."""
    for number in range(50):
        names = {"mark": mark}
        exec(compile(f"def made_{number}(): mark()", f"made_{number % 7}.py", "exec"), names)
        names[f"made_{number}"]()
        del names


def fähig():
    mark()


def 数える():
    mark()


def a_long_name():
    names = {"mark": mark}
    exec(compile(f"def {'long' * 15}(): mark()", f"/{'x' * 200}/folder/file.py", "exec"), names)
    names["long" * 15]()


def threads():
    def work(count):
        for _ in range(count):
            unlocked()
            nested()
    all_of_them = [threading.Thread(target=work, args=(20,)) for _ in range(4)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()


def child():
    pid = os.fork()
    if pid == 0:
        said.clear()
        nested()
        tell()
        os._exit(0)
    os.waitpid(pid, 0)


def tell():
    WRITE(1, (json.dumps([os.getpid(), said]) + "\n").encode())


def main():
    mark()
    nested()
    recursion(5)
    recursion(200)
    list(generator())
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    Thing().method()
    Thing().value
    callbacks()
    made_at_run_time()
    fähig()
    数える()
    a_long_name()
    child()
    threads()
    mark()
    tell()


if __name__ == "__main__":
    main()
