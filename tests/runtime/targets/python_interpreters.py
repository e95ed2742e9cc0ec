"""Calls getppid(), and fdatasync(), which lets go of the lock, in interpreters within interpreters, and says for each call
which functions of its interpreter it was made in: [thread, call, innermost first "file:function"], by Python itself."""

import json
import os
import sys
import threading

try:
    import _interpreters as interpreters  # 3.13
    WAYS = ("legacy",)
except ImportError:
    import _xxsubinterpreters as interpreters
    WAYS = ()

SAID = sys.argv[1]  # the file to say it in

INSIDE = f"""
import json, os, sys, threading, tempfile
def functions(frame):
    names = []
    while frame is not None:
        names.append(os.path.basename(frame.f_code.co_filename) + ":" + frame.f_code.co_name)
        frame = frame.f_back
    return names
def say(call):
    with open({SAID!r}, "a") as file:
        file.write(json.dumps([threading.get_native_id(), call, functions(sys._getframe(1))]) + "\\n")
def mark():
    say("getppid")
    os.getppid()
def unlocked():
    say("fdatasync")
    with tempfile.TemporaryFile() as file:
        os.fdatasync(file.fileno())
"""
exec(INSIDE)

FIRST = INSIDE + """
def of_the_first():
    mark()
    unlocked()
of_the_first()
"""
# Two others are in functions: which one runs is known as long as it has the lock.
NESTED = INSIDE + f"""
import {interpreters.__name__} as interpreters
def within():
    mark()
    interpreters.run_string(NUMBER, TEXT)
    mark()
within()
"""
NESTED = NESTED.replace("TEXT", repr(INSIDE + "def innermost():\n    mark()\ninnermost()\n"))


def only_one():
    one = interpreters.create(*WAYS)
    mark()
    unlocked()
    interpreters.run_string(one, FIRST)
    mark()
    unlocked()
    interpreters.destroy(one)


def work():
    one, two = interpreters.create(*WAYS), interpreters.create(*WAYS)
    mark()
    unlocked()
    interpreters.run_string(one, FIRST)
    mark()
    unlocked()
    interpreters.run_string(two, FIRST)
    interpreters.run_string(one, FIRST)
    for outer, inner in ((one, two), (two, one)):
        interpreters.run_string(outer, NESTED.replace("NUMBER", str(int(inner))))
    mark()
    interpreters.destroy(one)
    interpreters.destroy(two)


def outer():
    only_one()
    work()
    others = [threading.Thread(target=work) for _ in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join()


outer()
