"""Expressions: memory behind pointers, fields, elements, arithmetic, and how values are shown."""

import textwrap

from harness import ROOT, TracerCase, target

HEADER = ROOT / "tests/runtime/targets/target.h"
LIBRARIES = ("target", "target_cet", "target_o2")


class Values(TracerCase):
    def seen(self, function, fields, library="target", more="", head="on"):
        """The args of the one event that a rule on `function` with these fields makes."""
        trace = self.trace(f"""
            library t = "{target(f'lib{library}.so')}"
            header "{HEADER}"
            {head} t:{function} {{ {more} event seen.value({fields}) }}
            """, target(f"call_all_{library}"))
        return [event["args"] for event in trace.events]

    def test_out_parameters_are_read_at_return(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                seen = self.seen("fill_out", "*out, *wide, x = where->x, y = (*where).y, ret", library)
                self.assertEqual(seen, [
                    {"*out": -5, "*wide": "1234605616436508552", "x": 30, "y": -40, "ret": 0},
                    {"*out": -5, "*wide": "1234605616436508552", "x": None, "y": None, "ret": 1}])

    def test_what_is_const_is_read_at_entry(self):
        seen = self.seen("read_in", "third = in[2], x = p->x, last = bytes[1], all = *in", head="on entry")
        self.assertEqual(seen, [{"third": 30, "x": -8, "last": 255, "all": 10}])

    def test_fields_of_a_structure(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                seen = self.seen("take_struct", """
                    name = m->name, rows = m->rows, kind = m->kind, x = m->at.x, y = m->at.y,
                    next = m->next->y, dim = m->dims[3], tag = m->tag, low = m->flags.low,
                    mid = m->flags.mid, sign = m->flags.sign, word = m->word, byte = m->byte""", library)
                self.assertEqual(seen, [{
                    "name": "resnet", "rows": 12, "kind": 3, "x": 4, "y": -5, "next": 88, "dim": 4,
                    "tag": "tagged", "low": 5, "mid": 100, "sign": -3, "word": 0x1234, "byte": 0x34}])

    def test_an_element_by_another_parameter(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            int read_in(const int *in, const int *p, const unsigned char *bytes);
            on t:read_in {{ event seen.value(e = in[bytes[0]], f = in[bytes[0] + 1]) }}
            """, target("call_all_target"))
        self.assertEqual(trace.events[0]["args"], {"e": 20, "f": 30})

    def test_small_structures_by_value(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                self.assertEqual(self.seen("take_by_value", "x = p.x, y = p.y, after", library),
                                 [{"x": -3, "y": 4, "after": 6}])
                self.assertEqual(
                    self.seen("take_pair", "a = v.first, b = v.second, c = v.third, after", library),
                    [{"a": -5000000000, "b": 6, "c": 7, "after": 8}])
                self.assertEqual(self.seen("take_large", "first = v.values[0], last = v.values[4], after",
                                           library), [{"first": 1, "last": 5, "after": 9}])

    def test_arithmetic(self):
        self.assertEqual(
            self.seen("take_small", """
                sum = a + b * 2, minus = -a, rest = d % 7, half = c / 2, shift = e >> 4,
                bits = (b & 0x0f) | 64, flip = ~b, less = c < d, both = a < 0 && b > 100,
                either = a > 0 || f == 4000000000, not = !a, pick = a < 0 ? b : c,
                letter = 'A' + 1, size = b * 1KiB"""),
            [{"sum": 399, "minus": 1, "rest": 60000 % 7, "half": -150, "shift": -4375, "bits": 72, "flip": -201, "less": True, "both": True,
              "either": True, "not": False, "pick": 200, "letter": 66, "size": 204800}])

    def test_division_by_zero_is_no_trap(self):
        seen = self.seen("echo_int", "a = 7 / (n - 1), b = 7 % (n - 1)")
        self.assertEqual(seen[1:], [{"a": 7, "b": 0}, {"a": 0, "b": 7}])
        self.assertEqual(len(seen), 3)

    def test_what_cannot_be_read_is_null(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            struct model {{ const char *name; }};
            int take_pointers(const int *p, const char *q, const struct model *none);
            on entry t:take_pointers {{ event seen.value(*p, q, name = none->name, pid = pid) }}
            """,
            target("call_all_target"))
        args = trace.events[0]["args"]
        self.assertEqual({k: v for k, v in args.items() if k != "pid"},
                         {"*p": None, "q": None, "name": None})
        self.assertEqual(args["pid"], trace.events[0]["pid"])

    def test_of_a_struct_that_is_partly_there_what_is_there_is_read(self):
        """Its fields are read at once; where that fails, each by itself."""
        script = self.write("half.py", textwrap.dedent("""
            import ctypes, mmap
            libc = ctypes.CDLL(None)
            libc.mmap.restype = ctypes.c_void_p
            libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
            libc.access.argtypes = [ctypes.c_void_p, ctypes.c_int]
            pages = libc.mmap(None, 2 * mmap.PAGESIZE, 3, 0x22, -1, 0)
            assert libc.munmap(ctypes.c_void_p(pages + mmap.PAGESIZE), mmap.PAGESIZE) == 0
            for at in (mmap.PAGESIZE - 32, mmap.PAGESIZE - 24, mmap.PAGESIZE - 8, mmap.PAGESIZE):
                half = (b"\\1\\2\\3\\4" * 2 + (-7).to_bytes(8, "little", signed=True) + b"\\5" * 16)[:mmap.PAGESIZE - at]
                ctypes.memmove(pages + at, half, len(half))
                libc.access(pages + at, 77)
            """))
        trace = self.trace("""
            library c = "libc.so.6"
            struct half { short a, b; int c; long d, e, f; };
            int access(const struct half *one, int mode);
            on c:access {
                where mode == 77
                event seen.end(f = one->f, ret)
            }
            on entry c:access {
                where mode == 77
                event seen.value(a = one->a, c = one->c, d = one->d, f = one->f)
            }
            """, "/usr/bin/python3", "-S", script)
        values = [event["args"] for event in trace.events if event["name"] == "value"]
        fives, c = 0x0505050505050505, 0x04030201
        self.assertEqual([(v["a"], v["c"], v["d"], v["f"] and int(v["f"])) for v in values],
                         [(0x0201, c, -7, fives), (0x0201, c, -7, None), (0x0201, c, None, None), (None,) * 4])
        ends = [event["args"]["f"] for event in trace.events if event["name"] == "end"]
        self.assertEqual([end and int(end) for end in ends], [fives, None, None, None])

    def test_built_in_names(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}" variants _v2 _ptsz
            header "{HEADER}"
            on t:grow_v2 {{ event seen.value(function, symbol, pid, tid, ppid, comm, cpu, time, duration,
                                             ret) }}
            """, target("call_all_target"))
        event = trace.events[0]
        args = event["args"]
        self.assertEqual((args["function"], args["symbol"], args["ret"]), ("grow", "grow_v2", 12))
        self.assertEqual((args["pid"], args["tid"], args["cpu"]),
                         (event["pid"], event["tid"], event["cpu"]))
        self.assertEqual(args["comm"], "call_all_target")
        self.assertGreater(args["ppid"], 0)
        self.assertLess(0, args["duration"])

    def test_a_parameter_wins_over_a_built_in_name(self):
        trace = self.trace(f"""
            library t = "{target('libtarget.so')}"
            int take_small(signed char pid, int count, short ret);
            on t:take_small {{ event seen.value(pid, count, ret) }}
            """, target("call_all_target"))
        self.assertEqual(trace.events[0]["args"], {"pid": -1, "count": 200, "ret": -300})

    def test_how_values_are_shown(self):
        self.assertEqual(self.seen("take_char", "c, yes, no, code = c + 0"),
                         [{"c": "k", "yes": True, "no": False, "code": 107}])
        self.assertEqual(self.seen("make_session", "ret"), [{"ret": "0x2000"}])

    def test_enum_constants_compare(self):
        seen = self.seen("mix", "a, good = b == STATUS_OK", more="where ret == BLUE || a == GREEN")
        self.assertEqual(seen, [{"a": "BLUE", "good": True}, {"a": "GREEN", "good": False}])

    def test_texts_compare(self):
        self.assertEqual(self.seen("take_struct", "ok = m->rows == 12",
                                   more='where m->name == "resnet"'), [{"ok": True}])
        self.assertEqual(self.seen("take_struct", "m->rows", more='where m->name == "res"'), [])
