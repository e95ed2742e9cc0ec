"""Arrays: shown whole, and gone through by `each`; as the program itself has them."""

import subprocess

from harness import TracerCase

HEADER = """
enum kind { SMALL = 1, LARGE };
struct config { int dims[3]; float rates[2]; short grid[2][2]; enum kind kinds[2]; const char *names[2]; void *blocks[2]; char tag[8]; long many[17]; };
void configure(const struct config *c, double lr);
int add_files(const int *fds, int count);
"""
SOURCE = HEADER + """
#define HIDE(x) __asm__ volatile("" :: "r"(x) : "memory")
__attribute__((noinline)) void configure(const struct config *c, double lr) { HIDE(c); }
__attribute__((noinline)) int add_files(const int *fds, int count) { HIDE(fds); return count; }
int main(void) {
    struct config c = { { 32, -1, 7 }, { 1.5f, 0.25f }, { { 1, 2 }, { -3, 4 } }, { LARGE, SMALL }, { "one", 0 }, { (void *)16, 0 }, "abc", { 0 } };
    int fds[] = { 5, 6, 7, 8, 9, 10 };
    configure(&c, 0.1);
    for (int count = 0; count <= 6; ++count) add_files(fds, count);
    return 0;
}
"""


class Arrays(TracerCase):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "arrays"
        subprocess.run(["cc", "-O1", "-o", self.program, self.write("arrays.c", SOURCE)], check=True)

    def test_a_list_in_an_event(self):
        rules = HEADER + f"""on "{self.program}":configure {{
            let d = c->dims
            event job.configure(d, rates = c->rates, grid = c->grid, kinds = c->kinds, names = c->names, blocks = c->blocks, tag = c->tag, many = c->many, args)
            count by first = c->dims[0] as "By the first"
        }}"""
        trace = self.trace(rules, self.program)
        args = trace.named("configure")[0]["args"]
        self.assertRegex(args.pop("many"), "^0x[0-9a-f]+$")  # more than a list shows
        self.assertRegex(args.pop("c"), "^0x[0-9a-f]+$")
        self.assertEqual(args, {"d": [32, -1, 7], "rates": [1.5, 0.25], "grid": [[1, 2], [-3, 4]], "kinds": ["LARGE", "SMALL"],
                                "names": ["one", None], "blocks": ["0x10", "0x0"], "tag": "abc", "lr": None})

    def test_as_lines_and_saved(self):
        rules = self.write("a.rules", HEADER + f'on "{self.program}":configure {{ event job.configure(d = c->dims, g = c->grid, rate = c->rates[1]) }}')
        done = self.mlbcc("--print", "--rules", rules, "-o", self.out, "--", self.program)
        self.assertIn("(d=[32,-1,7], g=[[1,2],[-3,4]], rate=0.25)", done.stdout)
        for form, said in (("csv", '"d":[32,-1,7],"g":[[1,2],[-3,4]],"rate":0.25'), ("chrome", '"d":[32,-1,7]')):
            with self.subTest(form=form):
                done = self.mlbcc("convert", self.out, "--to", form, "-o", "-")
                self.assertIn(said, done.stdout.replace(" ", "").replace('""', '"'))

    def test_in_a_tracepoint(self):
        trace = self.trace("on tracepoint:raw_syscalls:sys_enter { where id == 1  event sys.write(args, bytes = args[2]) }", "sh", "-c", "echo twelve chars")
        written = [event["args"] for event in trace.named("write")]
        self.assertTrue(any(one["args"][0] == 1 and one["args"][2] == one["bytes"] == 13 and len(one["args"]) == 6 for one in written), written)

    def test_each(self):
        rules = HEADER + f"""on "{self.program}":add_files {{
            count as "Calls"
            each i in 0..4 {{ where i < count   count by fd = fds[i] as "Added"   sum fds[i] as "Sum"   learn added[fds[i]] = i + 1 }}
        }}
        on "{self.program}":add_files {{ where count > 4   event files.known(first = added[fds[0]], fourth = added[fds[3]], fifth = added[fds[4]]) }}"""
        trace = self.trace(rules, self.program)
        self.assertEqual([one["value"] for one in trace.summary["stats"] if one["label"] == "Calls"], [7])
        counts = {one["by"]["fd"]: one["value"] for one in trace.summary["stats"] if one["label"] == "Added"}
        self.assertEqual(counts, {5: 6, 6: 5, 7: 4, 8: 3})
        self.assertEqual(sum(one["value"] for one in trace.summary["stats"] if one["label"] == "Sum"), 5 * 6 + 6 * 5 + 7 * 4 + 8 * 3)
        self.assertEqual([event["args"] for event in trace.named("known")], [{"first": 1, "fourth": 4, "fifth": 9}] * 2)
        done = self.mlbcc("check", "-e", rules)
        self.assertIn("2 rules, 1 function", done.stdout)

    def test_more_values_than_one_call_records(self):
        header = "struct wide { long " + ", ".join(f"{name}[16]" for name in "abcde") + "; };\nvoid configure(const struct wide *c, double lr);\n"
        for fields, status in (("abc", 0), ("abcde", 2)):
            rule = f'on "{self.program}":configure {{ event job.wide({", ".join(f"c->{name}" for name in fields)}) }}'
            done = self.mlbcc("check", "--compile", "-e", header + rule)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("error: more than 64 values of one call of `configure`: the rules on it ask for 80", done.stderr)
        self.assertIn("of an array each element is a value", done.stderr)
