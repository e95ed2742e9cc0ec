"""Values that may be negative: their sums, distributions and largest, from the kernel to each view."""

import re

from harness import TracerCase
from harness.machine import MLBCC
from test_prometheus import PageCase, free_port, read

# Numbers as the C library reads them: what a function returns is what is written here.
SAY = """import ctypes
c = ctypes.CDLL(None)
c.atol.restype = ctypes.c_long
for n in {numbers}: c.atol(str(n).encode())
"""
NUMBERS = [-30, -20, -10, 0, 10, 2**62, -2**63, -1]
LIBRARY = 'library c = "libc.so.6"\nlong atol(const char *text);\n'


class Signed(TracerCase):
    def hists(self, trace):
        return {one["label"]: (one["count"], one["sum"], one["min"], one["max"], one["buckets"]) for one in trace.summary["hists"]}

    def test_results_of_system_calls(self):
        """recv() three times with EAGAIN (-11), once 5 bytes."""
        trace = self.trace("""
            on syscall:recvfrom {
                hist ret as "plain"   sum ret as "sum"   hist ret - 5 as "less"   sum -ret as "turned"   largest 2 by ret as "Largest" ()
                learn seen[1] = 1
                hist ret by seen[1] as "by learnt"   sum ret by seen[1] as "sum by learnt"
                hist ret as "often" every 10ms
            }""", "python3", "-c", "import socket\na, b = socket.socketpair()\na.setblocking(False)\n"
            "for _ in range(3):\n try: a.recv(5)\n except BlockingIOError: pass\nb.send(b'x' * 5); a.recv(5)")
        of = self.hists(trace)
        self.assertEqual(of["plain"], (4, -28, -11, 5, [[-16, -8, 3], [4, 8, 1]]))
        self.assertEqual(of["by learnt"], of["plain"])
        self.assertEqual(of["often"], of["plain"])
        self.assertEqual(of["less"], (4, -48, -16, 0, [[-16, -8, 3], [0, 1, 1]]))
        self.assertEqual({one["label"]: one["value"] for one in trace.summary["stats"]}, {"sum": -28, "turned": 28, "sum by learnt": -28})
        largest, = trace.summary["largest"]
        self.assertEqual([one["value"] for one in largest["entries"]], [5, -11])
        gained = [one for record in trace.records if record["type"] == "sums" for one in record["hists"]]
        self.assertEqual(sum(one["sum"] for one in gained), -28)
        shown = self.last.stderr
        self.assertRegex(shown, r"plain +4 values, min -11, avg -7, max 5\n +-16 \.\. +-8 +3 +#+\n")
        self.assertEqual(self.mlbcc("report", self.out).stdout, shown[:shown.index("mlbcc: trace written")])

    def test_results_of_functions(self):
        trace = self.trace(LIBRARY + 'on c:atol { hist ret as "kernel"   sum ret as "sum"   largest 9 by ret as "L" () }',
                           "python3", "-S", "-c", SAY.format(numbers=NUMBERS))
        count, total, low, high, buckets = self.hists(trace)["kernel"]
        self.assertEqual((count, total, low, high), (8, str(sum(NUMBERS)), str(-2**63), str(2**62)))
        self.assertEqual(buckets, [[str(-2**63), str(-2**62), 1], [-32, -16, 2], [-16, -8, 1], [-1, 0, 1], [0, 1, 1], [8, 16, 1],
                                   [str(2**62), str(2**63 - 1), 1]])
        self.assertEqual([int(one["value"]) for one in trace.summary["largest"][0]["entries"]], sorted(NUMBERS, reverse=True))

    def test_large_values_without_a_sign(self):
        """They are no negative ones."""
        trace = self.trace('library c = "libc.so.6"\nunsigned long strtoul(const char *text, char **end, int base);\n'
                           'on c:strtoul { hist ret as "kernel"   sum ret as "sum"   largest 2 by ret as "L" () }',
                           "python3", "-S", "-c", SAY.format(numbers=[2**64 - 1, 2**63, 5, 0]).replace("atol(", "strtoul(")
                           .replace("encode()", "encode(), None, 10"))
        count, total, low, high, buckets = self.hists(trace)["kernel"]
        self.assertEqual((count, total, low, high), (4, str((2**64 - 1 + 2**63 + 5) % 2**64), 0, str(2**64 - 1)))
        self.assertEqual(buckets, [[0, 1, 1], [4, 8, 1], [str(2**63), str(2**64 - 1), 2]])
        self.assertEqual([int(one["value"]) for one in trace.summary["largest"][0]["entries"]], [2**64 - 1, 2**63])


class OnAPage(PageCase):
    def test_buckets_below_zero(self):
        port, rules = free_port(), self.write("test.rules", LIBRARY + 'on c:atol { hist ret as "numbers"   sum ret as "sum" }')
        job = self.write("job.py", SAY.format(numbers=[-30, -20, -1, 0, 10]) + "import os\n"
                         f"while not os.path.exists('{self.dir}/seen'): os.stat('.')\n")
        self.start(str(MLBCC), "--rules", rules, "--prometheus", f":{port}", "--", "python3", "-S", job)
        page = self.until(lambda: re.search(r"signed_values_count\{.*\} 5\n", text := read(f"http://127.0.0.1:{port}/metrics")) and text, "no page")
        (self.dir / "seen").touch()
        self.check_page(page)
        below = {float(bound): int(count) for bound, count in
                 re.findall(r'^mlbcc_rule_signed_values_bucket\{.*le="([^"]*)"\} (\d+)$', page, re.M)}
        self.assertEqual({bound: below[bound] for bound in (-65, -17, -5, -1, 0, 63, float("inf"))},
                         {-65: 0, -17: 2, -5: 2, -1: 3, 0: 4, 63: 5, float("inf"): 5})
        self.assertRegex(page, r'(?m)^mlbcc_rule_signed_values_sum\{.*\} -41$')
        self.assertRegex(page, r'(?m)^mlbcc_rule_sum_signed\{.*\} -41$')
