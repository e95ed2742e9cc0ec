"""Endpoints that are slow for a known reason, under Flask (`flask_app`) or FastAPI (`fast_app`).

The server's own timings go to the file SERVE_LOG, a line a request: endpoint, seconds."""

import mmap
import os
import threading
import time

LOG = os.open(os.environ["SERVE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
DATA = os.environ["SERVE_DATA"]  # a file of 8 MiB, on a disk
LOCK = threading.Lock()


WANTED, HELD = threading.Semaphore(0), threading.Semaphore(0)


def hold_the_lock():
    while True:
        WANTED.acquire()
        with LOCK:
            HELD.release()
            time.sleep(0.01)


def fast():
    return "fast"


def cpu():
    end = time.thread_time() + 0.01
    n = 0
    while time.thread_time() < end:
        n += 1
    return "cpu"


def disk():
    block = mmap.mmap(-1, 8 << 20)  # aligned as O_DIRECT wants it
    fd = os.open(DATA, os.O_RDONLY | os.O_DIRECT)
    try:
        os.preadv(fd, [block], 0)
    finally:
        os.close(fd)
        block.close()
    return "disk"


def lock():
    WANTED.release()
    HELD.acquire()
    with LOCK:
        return "lock"


ENDPOINTS = {"/fast": fast, "/cpu": cpu, "/disk": disk, "/lock": lock}


def begin_lock_holder():
    if not getattr(begin_lock_holder, "begun", False):
        begin_lock_holder.begun = True
        threading.Thread(target=hold_the_lock, daemon=True).start()


def tell(path, seconds):
    os.write(LOG, f"{path} {seconds:.9f}\n".encode())


def make_flask():
    from flask import Flask

    app = Flask(__name__)
    for path, work in ENDPOINTS.items():
        app.add_url_rule(path, path, work)

    def timed(environ, start_response):
        begin_lock_holder()  # in the worker, not in its parent
        begin = time.perf_counter()
        try:
            return app(environ, start_response)
        finally:
            tell(environ["PATH_INFO"], time.perf_counter() - begin)

    return timed


def make_fast():
    from fastapi import FastAPI

    app = FastAPI()
    for path, work in ENDPOINTS.items():
        app.get(path)(work)

    async def timed(scope, receive, send):
        if scope["type"] != "http":
            return await app(scope, receive, send)
        begin_lock_holder()
        begin = time.perf_counter()
        try:
            await app(scope, receive, send)
        finally:
            tell(scope["path"], time.perf_counter() - begin)

    return timed


if os.environ["SERVE_KIND"] == "flask":
    flask_app = make_flask()
else:
    fast_app = make_fast()
