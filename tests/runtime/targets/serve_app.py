"""Endpoints that are slow for a known reason, under Flask (`flask_app`) or FastAPI (`fast_app`).

The server's own timings go to the file SERVE_LOG, a line a request: endpoint, seconds of its middleware, seconds since
the server had the request's bytes. What is between them is a request that the server reads, waits for a CPU or, under
uvicorn, in the event loop for others' turns. They end when the answer has been sent, under FastAPI when it is given
away to be sent: behind that, the thread may wait for the interpreter's lock."""

import asyncio
import concurrent.futures
import ctypes
import mmap
import multiprocessing
import os
import queue
import threading
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as servers with several workers have it
import numpy  # noqa: E402
import serve_marks  # noqa: E402

LOG = os.open(os.environ["SERVE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
DATA = os.environ["SERVE_DATA"]  # a file of READS * BLOCK bytes, on a disk
READS, BLOCK = 4, 4 << 20
SLOW = 0.02  # seconds
GPU_BYTES, GPU_COPIES = 4 << 20, 10

LOCK = threading.Lock()
WANTED, HELD = threading.Semaphore(0), threading.Semaphore(0)

LAYERS = [numpy.random.default_rng(layer).standard_normal((256, 256), numpy.float32) / 16 for layer in range(4)]
OF_THREAD = threading.local()


def model(batch):
    for weights in LAYERS:
        batch = numpy.maximum(batch @ weights, 0)
    return batch


def hold_the_lock():
    while True:
        WANTED.acquire()
        with LOCK:
            HELD.release()
            time.sleep(SLOW)


def fast():
    return "fast"


def cpu():
    batch = numpy.ones((64, 256), numpy.float32)
    end = time.thread_time() + SLOW
    while time.thread_time() < end:
        batch = model(batch) + 1
    return f"{float(batch.mean()):.3f}"


def disk():
    if not hasattr(OF_THREAD, "block"):
        OF_THREAD.block = mmap.mmap(-1, BLOCK)  # aligned as O_DIRECT wants it
    fd = os.open(DATA, os.O_RDONLY | os.O_DIRECT)
    try:
        for read in range(READS):
            os.preadv(fd, [OF_THREAD.block], read * BLOCK)
    finally:
        os.close(fd)
    return "disk"


def tell_work(work):
    begin = time.thread_time()
    answer = work()
    tell("/work", time.thread_time() - begin)
    return answer


def disk_and_cpu():
    return tell_work(lambda: disk() + cpu())


def lock():
    WANTED.release()
    HELD.acquire()
    with LOCK:
        return "lock"


def load_driver():
    """SERVE_GPU, with a context, and memory of the device."""
    driver, context, memory = ctypes.CDLL(os.environ["SERVE_GPU"]), ctypes.c_void_p(), ctypes.c_uint64()
    assert driver.cuInit(0) == 0
    assert driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(GPU_BYTES)) == 0
    return driver, memory


def gpu():
    if not hasattr(OF_THREAD, "driver"):
        OF_THREAD.driver = load_driver()
    driver, memory = OF_THREAD.driver
    for _ in range(GPU_COPIES):
        assert driver.cuMemcpyHtoD_v2(memory, bytes(GPU_BYTES), ctypes.c_size_t(GPU_BYTES)) == 0
    assert driver.cuCtxSynchronize() == 0
    return "gpu"


ENDPOINTS = {"/fast": fast, "/cpu": cpu, "/disk": disk, "/lock": lock}
if "SERVE_GPU" in os.environ:
    ENDPOINTS["/gpu"] = gpu


def begin_lock_holder():
    if not getattr(begin_lock_holder, "begun", False):
        begin_lock_holder.begun = True
        threading.Thread(target=hold_the_lock, daemon=True).start()


def tell(path, *seconds):
    os.write(LOG, " ".join([path, *(f"{one:.9f}" for one in seconds)]).encode() + b"\n")


def make_flask():
    from flask import Flask
    from gunicorn.http.unreader import SocketUnreader
    from werkzeug.wsgi import ClosingIterator

    app = Flask(__name__)
    for path, work in ENDPOINTS.items():
        app.add_url_rule(path, path, work)

    received = []  # when, of a worker's one request
    take = SocketUnreader.chunk

    def take_timed(unreader):
        data = take(unreader)
        received.append(time.perf_counter())
        return data

    SocketUnreader.chunk = take_timed

    def timed(environ, start_response):
        begin_lock_holder()  # in the worker, not in its parent
        begin, there = time.perf_counter(), received[0]
        received.clear()
        serve_marks.begin()

        def tell_times():
            now = time.perf_counter()
            serve_marks.end()
            tell(environ["PATH_INFO"], now - begin, now - there)

        # The server closes it when it has sent it.
        return ClosingIterator(app(environ, start_response), tell_times)

    return timed


def add_processes(app):
    """/pool is /disk, then /cpu, in one of two processes, which tells as /work how long it computed; /server is that of the server until
    a request begins, and until it ends."""
    processes = concurrent.futures.ProcessPoolExecutor(2)
    list(processes.map(int, range(4)))  # they are made now, and inherit no connections

    @app.get("/pool")
    async def pool():
        tell("/server", time.process_time())
        answer = await asyncio.get_running_loop().run_in_executor(processes, disk_and_cpu)
        tell("/server", time.process_time())
        return answer


def compute_when_asked(pipe):
    while True:
        pipe.recv()
        pipe.send(tell_work(cpu))


def add_helpers(app):
    """/asks is /cpu, has one of two processes do /cpu, whose answer its own thread reads, and is /cpu again; /work and /server as of /pool."""
    idle = queue.SimpleQueue()
    for _ in range(2):
        ours, its = multiprocessing.Pipe()
        multiprocessing.get_context("fork").Process(target=compute_when_asked, args=(its,), daemon=True).start()
        idle.put(ours)

    @app.get("/asks")
    def asks():
        tell("/server", time.process_time())
        cpu()
        pipe = idle.get()
        pipe.send(None)
        pipe.recv()
        idle.put(pipe)
        cpu()
        tell("/server", time.process_time())
        return "asked"


def make_fast():
    from fastapi import FastAPI
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    app = FastAPI()
    for path, work in ENDPOINTS.items():
        app.get(path)(serve_marks.in_thread(work))

    if "SERVE_PROCESSES" in os.environ:
        add_processes(app)
        add_helpers(app)

    received = {}  # when, by client
    take = AutoHTTPProtocol.data_received

    def take_timed(protocol, data):
        received.setdefault(protocol.client, time.perf_counter())
        take(protocol, data)

    AutoHTTPProtocol.data_received = take_timed

    async def timed(scope, receive, send):
        if scope["type"] != "http":
            return await app(scope, receive, send)
        begin_lock_holder()
        begin, there = time.perf_counter(), received.pop(tuple(scope["client"]))

        async def send_timed(message):
            now = time.perf_counter()
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                tell(scope["path"], now - begin, now - there)

        await serve_marks.of_request(app(scope, receive, send_timed))

    return timed


if os.environ["SERVE_KIND"] == "flask":
    flask_app = make_flask()
else:
    fast_app = make_fast()
