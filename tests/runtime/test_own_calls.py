"""What the kernel does for our own probes is none of the program's system calls."""

from harness import TracerCase

CALLS = """import ctypes, os, signal
c = ctypes.CDLL(None)
signal.signal(signal.SIGUSR1, lambda *_: None)
for _ in range(7): os.kill(os.getpid(), signal.SIGUSR1)
for _ in range(3000): c.atol(b'5')
"""
HEAD = 'library c = "libc.so.6"\nlong atol(const char *text);\n'


class OwnCalls(TracerCase):
    """Each awaited end of a function is one more return from a signal's handler, to who looks at ends alone."""

    def test_ends_of_functions(self):
        for way in "session", "multi", "perf":
            for rule in 'count by function as "calls"', 'event a.call(ret)', 'sum duration by function as "calls"', "span a(args)":
                trace = self.trace(f"{HEAD}on c:atol {{ span called(args)   count as \"n\" }}\non syscall:rt_sigreturn, syscall:kill {{ {rule} }}",
                                   "python3", "-S", "-c", CALLS, options=("--attach", way))
                self.assertEqual(trace.stats("n"), {(): 3000}, way)
                events = [event.get("function", event["name"]) for event in trace.events if event["type"] == "a" and event["phase"] in "XE"]
                told = {"event": events, "span": events}.get(rule.split()[0])
                counted = {one["by"]["function"]: one.get("calls", one["value"]) for one in trace.summary["stats"] if one["label"] == "calls"}
                seen = {name: told.count(name) for name in set(told)} if told is not None else counted
                self.assertEqual(seen, {"kill": 7, "rt_sigreturn": 7}, (way, rule))

    def test_without_functions_nothing_is_asked_of_beginnings(self):
        trace = self.trace('on syscall:rt_sigreturn, syscall:kill { count by function as "calls" }', "python3", "-S", "-c", CALLS)
        self.assertEqual(trace.stats("calls"), {("kill",): 7, ("rt_sigreturn",): 7})
