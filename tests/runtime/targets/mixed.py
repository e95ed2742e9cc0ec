"""A job of everything: a GPU (simulated), files by a pool of threads, processes, a server and its clients.

mixed.py FOLDER [hold]: prints its own books as a line of JSON; with `hold` it then waits for a line.
"""

import ctypes
import http.client
import http.server
import json
import os
import socketserver
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

FOLDER = sys.argv[1]
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry first(.param .u64 a)
{ ret; }
.visible .entry second(.param .u64 a)
{ ret; }
"""
LAUNCHES = {"first": 40, "second": 25}
BLOCKS, BLOCK, COPIES, COPY = 6, 1 << 20, 7, 100_000
FILES, LINES = 20, 5
FORKS, REQUESTS, BODY = 3, 12, 3000


def use_the_gpu():
    cuda = ctypes.CDLL("libcuda.so.1")
    pointer, size = ctypes.c_void_p, ctypes.c_size_t

    def call(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        assert result == 0, (name, result)
    device, context, module = ctypes.c_int(), pointer(), pointer()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    kernels = {}
    for name in LAUNCHES:
        kernels[name] = pointer()
        call("cuModuleGetFunction", ctypes.byref(kernels[name]), module, name.encode())
    blocks = []
    for _ in range(BLOCKS):
        blocks.append(ctypes.c_uint64())
        call("cuMemAlloc_v2", ctypes.byref(blocks[-1]), size(BLOCK))
    host = ctypes.create_string_buffer(COPY)
    for _ in range(COPIES):
        call("cuMemcpyHtoD_v2", blocks[0], host, size(COPY))
    for name, count in LAUNCHES.items():
        argument = ctypes.c_uint64(0)
        arguments = (pointer * 1)(ctypes.addressof(argument))
        for _ in range(count):
            call("cuLaunchKernel", kernels[name], 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    for block in blocks[1:]:
        call("cuMemFree_v2", block)  # the first is kept


def write_a_file(number):
    path = os.path.join(FOLDER, f"mixed-{number}")
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for line in range(LINES):
        os.write(file, bytes(100 + number + line))
    if number % 4 == 0:
        os.fsync(file)
    os.close(file)
    return sum(100 + number + line for line in range(LINES))


def use_files():
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(write_a_file, range(FILES)))


def make_processes():
    written = sum(100 + FILES + number + line for number in range(FORKS) for line in range(LINES))
    for number in range(FORKS):
        child = os.fork()
        if child == 0:
            write_a_file(FILES + number)
            os._exit(number)
        os.waitpid(child, 0)
    subprocess.run(["/bin/true"], check=True)
    return written


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(BODY))
        self.end_headers()
        self.wfile.write(bytes(BODY))

    def log_message(self, *arguments):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def serve_and_ask():
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    for _ in range(REQUESTS):
        client = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
        client.request("GET", "/mixed")
        assert len(client.getresponse().read()) == BODY
        client.close()
    server.shutdown()
    thread.join()
    server.server_close()
    return server.server_address[1]


def main():
    use_the_gpu()
    written = use_files() + make_processes()
    port = serve_and_ask()
    print(json.dumps({"launches": LAUNCHES, "allocated": BLOCKS * BLOCK, "held": BLOCK, "copied": COPIES * COPY, "copies": COPIES,
                      "files": FILES + FORKS, "written": written, "synced": len(range(0, FILES, 4)) + sum(n % 4 == 0 for n in range(FILES, FILES + FORKS)),
                      "processes": 1 + FORKS + 1, "connections": REQUESTS, "body": REQUESTS * BODY, "port": port}), flush=True)
    if "hold" in sys.argv[2:]:
        sys.stdin.readline()


main()
