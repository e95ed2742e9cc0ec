"""net:tcp: who talked to whom and how much, compared with what a client and a server write down themselves."""

import ipaddress
import json
import shutil
import subprocess
import unittest

from harness import TracerCase, machine
from harness.machine import need_tool

# A server and a client in two threads. Each notes [operation, remote, port, local, port, bytes, error]
# of what it does, by the addresses that the sockets say.
TALK = """
import json, socket, sys, threading, time
notes, slow = {}, []

ends = {}  # addresses of sockets: the other end's are not to be had once it has closed

def note(operation, end, done, error=0):
    if end not in ends: ends[end] = (*end.getpeername()[:2], *end.getsockname()[:2])
    notes.setdefault(threading.get_native_id(), []).append([operation, *ends[end], done, error])

def send(end, data):
    note("tcp_send", end, end.send(data))

def receive(end, size):
    since = time.monotonic_ns()
    data = end.recv(size)
    slow.append(time.monotonic_ns() - since)
    note("tcp_receive", end, len(data))
    return len(data)

def serve(listener):
    end, peer = listener.accept()
    ends[end] = (*peer[:2], *end.getsockname()[:2])
    end.recv(1, socket.MSG_PEEK)
    while (got := receive(end, 3000)) > 0: pass
    send(end, b"thanks")
    end.close()

def talk(family, address):
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen()
    server = threading.Thread(target=serve, args=(listener,))
    server.start()
    end = socket.create_connection(listener.getsockname()[:2])
    note("tcp_connect", end, 0)
    for size in (1, 4096, 77): send(end, bytes(size))
    end.shutdown(socket.SHUT_WR)
    while receive(end, 100) > 0: pass
    end.close()
    server.join()
    port = listener.getsockname()[1]
    listener.close()
    refused = socket.socket(family)
    refused.bind((address, 0))
    local = refused.getsockname()[:2]
    error = refused.connect_ex((address, port))
    notes[threading.get_native_id()].append(["tcp_connect", address, port, *local, 0, error])

for address in sys.argv[1:]:
    talk(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
print(json.dumps({"notes": notes, "longest": max(slow)}))
"""

RULES = """
on net:tcp { event net.tcp(operation, remote, remote_port, local, local_port, bytes, error) }
on net:tcp { where operation == tcp_send && error == 0      sum bytes as "sent" }
on net:tcp { where operation == tcp_receive && error == 0   sum bytes as "received" }
"""


def as_shown(address):
    """As the probe writes an address: in full, but for ::1 and what is IPv4."""
    made = ipaddress.ip_address(address)
    if made.version == 6 and made.ipv4_mapped:
        return str(made.ipv4_mapped)
    return made.exploded if made.version == 6 and address != "::1" else address


@unittest.skipIf(machine.kernel() < (6, 3), "the tracepoints of sending and receiving came with 6.3")
class Network(TracerCase):
    def compare(self, command, *addresses, before=()):
        script = self.write("talk.py", TALK)
        trace = self.trace(RULES, *before, command, script, *addresses)
        said = json.loads(self.last.stdout)
        seen = {}
        for event in trace.events:
            seen.setdefault(str(event["tid"]), []).append(list(event["args"].values()))
        notes = {thread: [[n[0], as_shown(n[1]), n[2], as_shown(n[3]), *n[4:]] for n in noted]
                 for thread, noted in said["notes"].items()}
        self.assertEqual(seen, notes)
        for operation, label in (("tcp_send", "sent"), ("tcp_receive", "received")):
            total = sum(n[5] for noted in notes.values() for n in noted if n[0] == operation)
            self.assertEqual(trace.stats(label), {(): total})
        longest = max(e["duration_us"] for e in trace.events if e["args"]["operation"] == "tcp_receive")
        self.assertLessEqual(longest * 1000, said["longest"])
        return trace

    def test_as_client_and_server_say(self):
        self.compare("/usr/bin/python3", "127.0.0.1", "::1", "::ffff:127.0.0.1")

    def test_addresses_of_other_networks(self):
        """In a network of its own, so that no address of this machine's is in the way."""
        need_tool("ip")
        addresses = ("10.200.3.44", "192.168.9.100", "fd12:3456:789a::1:0:b", "2001:db8::ff00:42:8329")
        setup = "ip link set lo up\n" + "".join(
            f"ip address add {a}/{128 if ':' in a else 32} dev lo {'nodad' if ':' in a else ''}\n" for a in addresses)
        inside = self.write("inside.sh", f"set -e\n{setup}exec \"$@\"\n")
        if subprocess.run(["unshare", "--net", "sh", inside, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no network of one's own can be made here")
        self.compare(shutil.which("python3"), *addresses, before=("unshare", "--net", "sh", inside))

    def test_bytes_are_those_that_strace_sees(self):
        strace = need_tool("strace")
        script = self.write("talk.py", TALK)
        trace = self.trace(RULES, strace, "-f", "-o", self.dir / "calls", "-e", "trace=sendto,recvfrom",
                           "/usr/bin/python3", script, "127.0.0.1")
        total = {"sendto": 0, "recvfrom": 0}
        for line in (self.dir / "calls").read_text().splitlines():
            for name in total:
                whole = f"{name}(" in line or f"<... {name} resumed>" in line
                if whole and " = " in line and "MSG_PEEK" not in line and "unfinished" not in line:
                    total[name] += max(0, int(line.rsplit(" = ", 1)[1].split()[0]))
        # Of a call that waited, strace's second line does not say MSG_PEEK: one byte.
        self.assertEqual(trace.stats("sent"), {(): total["sendto"]})
        self.assertIn(total["recvfrom"] - trace.stats("received")[()], (0, 1))

    def test_connections_that_are_given_up(self):
        """A queue of one is full: the others are not answered, and closed, by the program or by its end."""
        for address in "127.0.0.1", "::1":
            trace = self.trace(RULES, "/usr/bin/python3", "-c", f"""if True:
                import socket
                family = socket.AF_INET6 if ":" in {address!r} else socket.AF_INET
                listener = socket.socket(family)
                listener.bind(({address!r}, 0)), listener.listen(0)
                ends = []
                for _ in range(5):
                    end = socket.socket(family)
                    end.setblocking(False)
                    try: end.connect(listener.getsockname()[:2])
                    except BlockingIOError: pass
                    ends.append(end)
                ends[1].close()
                for one in ends[3:]: one.detach()""")
            errors = sorted(event["args"]["error"] for event in trace.events if event["args"]["operation"] == "tcp_connect")
            self.assertEqual(errors, [0, 103, 103, 103, 103], address)

    def test_a_stack_of_the_call(self):
        trace = self.trace("on net:tcp { where operation == tcp_send  event net.send(bytes)  stack user }",
                           "/usr/bin/python3", self.write("talk.py", TALK), "127.0.0.1")
        self.assertEqual(len(trace.events), 4)
        for event in trace.events:
            self.assertIn("_PyEval_EvalFrameDefault", " ".join(event["stack"]))
