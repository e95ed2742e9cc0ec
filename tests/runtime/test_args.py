"""`args`: every parameter that can be read, by name and type, and what the function returned."""

from pathlib import Path

from harness import ROOT, TracerCase, target

HEADER = ROOT / "tests/runtime/targets/target.h"
LIBRARIES = ("target", "target_cet", "target_o2")  # push; endbr64 and push; whatever -O2 makes
POINTER = "a pointer"
NOTHING = "no value can be read"

# function: [(args, ret)], in the order of call_all.c's calls
EXPECTED = {
    "take_small": [({"a": -1, "b": 200, "c": -300, "d": 60000, "e": -70000, "f": 4000000000},
                    -294977397)],
    "take_wide": [({"a": -1, "b": 2, "c": -3000000000, "d": "18446744073709551615", "e": 1048576,
                    "f": -6}, -2998951430)],
    "take_char": [({"c": "k", "yes": True, "no": False}, "k")],
    "take_many": [({"a": 1, "b": -2, "c": 3, "d": -4, "e": 5, "f": -6, "g": -7000000000, "h": 250,
                    "i": "ninth", "j": -10}, 1589934939)],
    "take_mixed": [({"a": 1, "x": None, "b": 3, "y": None, "c": 5}, 16)],
    "negative": [({"n": 7}, -7)],
    "low_byte": [({"n": 511}, 255)],
    "big_number": [({"n": 1099511627776}, -1099511627776),
                   ({"n": "1152921504606846976"}, "-1152921504606846976")],
    "huge_number": [({"n": "18446744073709551615"}, "18446744073709551615")],
    "is_even": [({"n": 4}, True), ({"n": 5}, False)],
    "no_result": [({"n": 11}, NOTHING)],
    "half": [({"x": None, "n": 2}, NOTHING)],
    "mix": [({"a": "BLUE", "b": "STATUS_OK"}, "BLUE"),
            ({"a": "GREEN", "b": "STATUS_BAD"}, "NONE"), ({"a": 5, "b": "STATUS_OK"}, 5)],
    "call_hidden": [({"n": 5}, 16)],
    "call_dirty": [({}, 42)],
    "take_text": [({"name": "plain", "empty": "", "none": None, "mutable_text": POINTER}, 5)] * 2,
    "take_long_text": [({"text": "x" * 63}, 199)],
    "name_of": [({"n": 1}, "one"), ({"n": 3}, None)],
    "log_line": [({"format": "%d %d"}, 5)],
    "take_pointers": [({"p": "0x1000", "q": "0x2000", "none": "0x0", "s": "0x3000",
                        "d": "0x7f0000001000", "f": POINTER}, 5)],
    "fill_out": [({"out": POINTER, "wide": POINTER, "where": POINTER}, 0),
                 ({"out": POINTER, "wide": POINTER, "where": "0x0"}, 1)],
    "read_in": [({"in": POINTER, "p": POINTER, "bytes": POINTER}, 294)],
    "take_struct": [({"m": POINTER}, 10)],
    "take_by_value": [({"p": None, "after": 6}, 7)],
    "take_pair": [({"v": None, "after": 8}, -4999999979)],
    "take_large": [({"v": None, "after": 9}, 15)],
    "make_point": [({"x": 1, "y": 2}, NOTHING)],
    "make_large": [({"seed": 10, "step": 3}, NOTHING)],
    "make_session": [({"n": 2}, "0x2000")],
}


def readable(value, expected):
    """`value`, or POINTER where a pointer of unknown value is expected and one is there."""
    if isinstance(value, str) and expected == POINTER and int(value, 16) > 0xffff:
        return POINTER
    return value


class Args(TracerCase):
    def check(self, calls, name):
        expected = EXPECTED[name]
        self.assertEqual(len(calls), len(expected), f"calls of {name}")
        for (args, ret), (want_args, want_ret) in zip(calls, expected):
            got = {key: readable(value, want_args.get(key)) for key, value in args.items()}
            self.assertEqual(got, want_args, name)
            self.assertEqual(list(got), list(want_args), f"{name}: in the prototype's order")
            self.assertEqual(ret, want_ret, f"what {name} returned")

    def test_span_gives_each_argument_and_the_result(self):
        for library in LIBRARIES:
            trace = self.trace(f"""
                library t = "{target(f'lib{library}.so')}"
                header "{HEADER}"
                on t:* {{ span user(args) }}
                """, target(f"call_all_{library}"))
            for name in EXPECTED:
                with self.subTest(library=library, function=name):
                    self.check([(begin.get("args", {}), end.get("ret", NOTHING))
                                for begin, end in trace.pairs(name)], name)

    def test_event_gives_the_same(self):
        for library in LIBRARIES:
            trace = self.trace(f"""
                library t = "{target(f'lib{library}.so')}"
                header "{HEADER}"
                on t:* {{ event user(args) }}
                """, target(f"call_all_{library}"))
            for name in EXPECTED:
                with self.subTest(library=library, function=name):
                    self.check([(event.get("args", {}), event.get("ret", NOTHING))
                                for event in trace.named(name, "X")], name)

    def test_many_values_behind_one_pointer(self):
        places = ", ".join(f"v{at} = in[{at}]" for at in range(30))
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            int read_in(const int *in, const void *p, const unsigned char *bytes);
            on t:read_in {{ event seen({places}) }}
            """, target("call_all_target"))
        args, = trace.args("read_in", "X")
        self.assertEqual(list(args), [f"v{at}" for at in range(30)])
        self.assertEqual([args[f"v{at}"] for at in range(3)], [10, 20, 30])

    def test_without_a_prototype_registers_in_hexadecimal(self):
        trace = self.trace(f"""
            on "{target('libtarget.so')}":take_wide {{ span user(args) }}
            on "{target('libtarget.so')}":take_pointers {{ event user(third = arg(2), d = arg(4)) }}
            """, target("call_all_target"))
        begin, end = trace.pairs("take_wide")[0]
        self.assertEqual(begin["args"], {
            "arg0": "0xffffffffffffffff", "arg1": "0x2", "arg2": "0xffffffff4d2fa200",
            "arg3": "0xffffffffffffffff", "arg4": "0x100000", "arg5": "0xfffffffffffffffa"})
        self.assertEqual(end["ret"], "0xffffffff4d3fa1fa")
        self.assertEqual(trace.args("take_pointers", "X"), [{"third": "0x0", "d": "0x7f0000001000"}])

    def test_a_prototype_in_the_rule_file(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            typedef unsigned long device_ptr;
            enum mood {{ CALM = 5, WILD = 6 }};
            int take_small(signed char small, enum mood b, short c, unsigned short d, int e);
            enum mood echo_int(enum mood n);
            int call_hidden(device_ptr n);
            on t:take_small {{ span user(small, c) }}
            on t:call_hidden {{ span user(args) }}
            """, target("call_all_target"))
        self.assertEqual(trace.args("take_small", "B"), [{"small": -1, "c": -300}])
        self.assertEqual(trace.args("call_hidden", "B"), [{"n": "0x5"}])

    def test_rubbish_above_an_int_is_not_read(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            header "{HEADER}"
            on t:echo_int {{ event seen(n) count by n as "calls" }}
            """, target("call_all_target"))
        values = [event["args"]["n"] for event in trace.events]
        self.assertEqual(values, [1, 2, 42])  # the second came by the alias
        self.assertEqual(trace.stats("calls"), {(1,): 1, (2,): 1, (42,): 1})

    def test_a_static_function(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            int hidden_twist(int n);
            on t:hidden_twist {{ span user(args) }}
            """, target("call_all_target"))
        begin, end = trace.pairs("hidden_twist")[0]
        self.assertEqual((begin["args"], end["ret"]), ({"n": 5}, 15))

    def test_variants_are_one_function(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}" variants _v2 _ptsz
            header "{HEADER}"
            on t:grow {{ span user(args) count by function, symbol as "calls" }}
            """, target("call_all_target"))
        begins = trace.named("grow", "B")
        self.assertEqual([(b["symbol"], b["args"]) for b in begins],
                         [("grow_v2", {"n": 10}), ("grow_v2_ptsz", {"n": 20})])
        self.assertEqual(trace.stats("calls"), {("grow", "grow_v2"): 1, ("grow", "grow_v2_ptsz"): 1})

    def test_texts_arrive_as_they_are(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            header "{HEADER}"
            on t:take_bytes {{ event seen(bytes) }}
            on t:take_long_text {{ event seen(short = str(text, 8), long = str(text, 256)) }}
            """, target("call_all_target"))
        # bytes that are no UTF-8 stand one by one as \\u00NN, the rest as it is
        self.assertEqual(trace.args("take_bytes", "X"),
                         [{"bytes": 'tab\t"quote" back\\ \u00e9 \u00ff\u00fe end'}])
        self.assertEqual(trace.args("take_long_text", "X"), [{"short": "x" * 7, "long": "x" * 199}])

    def test_text_that_nobody_has_read_yet(self):
        Path("/proc/sys/vm/drop_caches").write_text("1")  # nor is its page in memory
        for clause, phase in (("span user(text)", "B"), ("event user(text)", "X")):
            trace = self.trace(f"""
                library t = "{target('libtarget.so')}"
                header "{HEADER}"
                on t:take_cold_text {{ {clause} }}
                """, target("call_all_target"))
            self.assertEqual(trace.args("take_cold_text", phase), [{"text": "cold"}], clause)

    def test_library_by_each_kind_of_name(self):
        libtarget = target("libtarget.so")
        folder = libtarget.rsplit("/", 1)[0]
        (self.dir / "near").symlink_to(folder)
        for name in (libtarget, "./near/libtarget.so", f"{folder}/libtarg?t.so", "libtarget.so"):
            with self.subTest(name=name):
                trace = self.trace(f'on "{name}":negative {{ span user(args) }}',
                                   "/usr/bin/env", f"LD_LIBRARY_PATH={folder}",
                                   target("call_all_target"),
                                   env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": folder})
                self.assertEqual(len(trace.pairs("negative")), 1)
