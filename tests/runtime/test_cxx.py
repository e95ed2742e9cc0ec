"""Functions of C++ by the names that people write, and names of C++ that are only text."""

import subprocess
import sys

from harness import TracerCase, target

RULES = f'library shop = "{target("cxx_names")}"\n'


class Names(TracerCase):
    def counted(self, rule, options=()):
        trace = self.trace(RULES + rule, target("cxx_names"), options=options)
        return trace.stats("Calls")

    def test_a_name_is_all_overloads(self):
        counted = self.counted('on shop:shop::price { count by function as "Calls" }')
        self.assertEqual(counted, {("shop::price",): 3})

    def test_with_parameters_it_is_one(self):
        counted = self.counted('on shop:"shop::price(int)" { count by symbol as "Calls" }')
        self.assertEqual(counted, {("_ZN4shop5priceEi",): 2})

    def test_patterns(self):
        counted = self.counted('on shop:shop::* except shop::Basket::* { count by function as "Calls" }')
        self.assertEqual(counted, {
            ("shop::price",): 3, ("shop::inside::price",): 1, ("shop::twice<int>",): 1,
            ("shop::twice<long>",): 1})

    def test_members_templates_and_functions_of_no_namespace(self):
        counted = self.counted("""on shop:shop::Basket::add, shop:shop::Basket::Basket, shop:shop::Basket::~Basket,
            shop:"shop::Basket::operator()", shop:shop::twice, shop:::global, shop:"(anonymous namespace)::hidden"
            { count by function as "Calls" }""")
        self.assertEqual(counted, {
            ("shop::Basket::add",): 2, ("shop::Basket::Basket",): 1, ("shop::Basket::~Basket",): 1,
            ("shop::Basket::operator()",): 1, ("shop::twice<int>",): 1, ("shop::twice<long>",): 1,
            ("global",): 1, ("(anonymous namespace)::hidden",): 1})

    def test_spans_have_both_names(self):
        trace = self.trace(RULES + "on shop:shop::inside::price { span shop(pieces = arg(0)) }",
                           target("cxx_names"))
        (begin, end), = trace.pairs("shop::inside::price")
        self.assertEqual(begin["symbol"], "_ZN4shop6inside5priceEi")
        self.assertEqual(begin["args"], {"pieces": "0x4"})
        self.assertEqual(end["name"], "shop::inside::price")

    def test_a_prototype_is_given_by_the_mangled_name(self):
        trace = self.trace(RULES + """int _ZN4shop5priceEi(int pieces);
            on shop:"shop::price(int)" { event sale(pieces, ret) }""", target("cxx_names"))
        self.assertEqual([e["args"] for e in trace.events],
                         [{"pieces": 1, "ret": 3}, {"pieces": 2, "ret": 6}])

    def test_mangled(self):
        counted = self.counted('on shop:shop::price { count by function as "Calls" }', ["--mangled"])
        self.assertEqual(counted, {("_ZN4shop5priceEi",): 2, ("_ZN4shop5priceEid",): 1})

    def test_list(self):
        done = self.mlbcc("list", f"{target('cxx_names')}:shop::inside::*")
        self.assertEqual(done.stdout, "_ZN4shop6inside5priceEi\n")


class Text(TracerCase):
    RULES = RULES + """
        void give_name(long *handle, const char *name);
        void use(long handle);
        on shop:give_name { event named(raw = name, name = demangle(name))   learn kernel[*handle] = demangle(name) }
        on shop:use { event used(kernel = kernel[handle])   count by kernel[handle] as "Uses" }"""

    def seen(self, *options):
        trace = self.trace(self.RULES, target("cxx_names"), options=options)
        return ([e["args"] for e in trace.named("give_name")],
                [e["args"]["kernel"] for e in trace.named("use")], trace.stats("Uses"))

    def test_is_demangled(self):
        named, used, counted = self.seen()
        self.assertEqual(named, [{"raw": "_Z6vecAddPKfS0_Pfi", "name": "vecAdd"},
                                 {"raw": "gemm", "name": "gemm"}])
        self.assertEqual(used, ["vecAdd", "vecAdd", "gemm"])
        self.assertEqual(counted, {("vecAdd",): 2, ("gemm",): 1})

    def test_mangled(self):
        named, used, counted = self.seen("--mangled")
        self.assertEqual(named[0], {"raw": "_Z6vecAddPKfS0_Pfi", "name": "_Z6vecAddPKfS0_Pfi"})
        self.assertEqual(used, ["_Z6vecAddPKfS0_Pfi"] * 2 + ["gemm"])
        self.assertEqual(counted, {("_Z6vecAddPKfS0_Pfi",): 2, ("gemm",): 1})


class Late(TracerCase):
    def test_a_library_that_comes_later(self):
        source = self.write("late.cpp", "namespace shop { int add(int n) { return n + 1; } int other() { return 1; } }")
        subprocess.run(["g++", "-shared", "-fPIC", "-o", self.dir / "made.so", source], check=True)
        program = self.write("use.py", """
            import ctypes, os
            os.rename("made.so", "liblate.so")
            late = ctypes.CDLL("./liblate.so")
            late._ZN4shop3addEi(3)
            late._ZN4shop3addEi(4)
            late._ZN4shop5otherEv()
            """.replace("\n            ", "\n"))
        for pattern in ("shop::add", "shop::a*"):
            with self.subTest(pattern=pattern):
                trace = self.trace(f"""library late = "./liblate.so"
                    on optional late:{pattern} {{ count by function as "Calls" }}""", sys.executable, program)
                self.assertEqual(trace.stats("Calls"), {("shop::add",): 2})
                (self.dir / "liblate.so").rename(self.dir / "made.so")
