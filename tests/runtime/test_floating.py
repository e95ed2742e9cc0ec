"""`float` and `double` in memory, as the program itself prints them."""

import math
import subprocess
from decimal import Decimal

from harness import TracerCase

NUMBERS = [0.1, -2.5, 1e300, 1e-310, 0.0, -0.0, 123456789.25, float("inf"), float("nan"), 1 / 3]
HEADER = """
struct inner { float rates[2]; };
struct step { int number; double loss; struct inner in; };
void done(const struct step *s, double lr, const double *norm);
"""
SOURCE = HEADER + """
__attribute__((noinline)) void done(const struct step *s, double lr, const double *norm) { __asm__ volatile("" :: "r"(s), "r"(norm) : "memory"); }
int main(void) {
    static const double all[] = { %s };
    for (int i = 0; i < %d; ++i) {
        struct step s = { i, all[i], { { (float)all[i], 0.5f } } };
        done(&s, 0.1, &all[i]);
    }
    return 0;
}
"""


class Floating(TracerCase):
    def setUp(self):
        super().setUp()
        self.program = self.dir / "steps"
        values = ", ".join("__builtin_inf()" if math.isinf(one) else '__builtin_nan("")' if math.isnan(one) else repr(one) for one in NUMBERS)
        source = self.write("steps.c", SOURCE % (values, len(NUMBERS)))
        subprocess.run(["cc", "-O1", "-o", self.program, source], check=True)

    def test_in_events(self):
        rules = HEADER + f'on "{self.program}":done {{ event step.done(loss = s->loss, rate = s->in.rates[0], half = s->in.rates[1], norm = *norm, number = s->number) }}'
        trace = self.trace(rules, self.program)
        self.assertEqual(len(trace.named("done")), len(NUMBERS))
        for event, number in zip(trace.named("done"), NUMBERS):
            args = event["args"]
            self.assertEqual(args["half"], 0.5)
            for name, value in (("loss", number), ("norm", number), ("rate", number if abs(number) < 1e38 or not math.isfinite(number) else math.inf)):
                shown = float(args[name])
                self.assertTrue(math.isnan(shown) if math.isnan(value) else math.isclose(shown, value, rel_tol=1e-6 if name == "rate" else 0, abs_tol=1e-45 if name == "rate" else 0),
                                (name, value, args))
                self.assertEqual(isinstance(args[name], str), not math.isfinite(value))  # JSON has no such numbers

    def test_as_groups_and_in_lists(self):
        rules = HEADER + f'on "{self.program}":done {{ count by s->loss as "Losses"  largest 3 by s->number as "Last" (loss = s->loss) }}'
        trace = self.trace(rules, self.program)
        self.assertEqual({str(one["by"]["s->loss"]) for one in trace.summary["stats"]},
                         {str(Decimal(repr(one))) if math.isfinite(one) and one else str(one) if one else "0" for one in NUMBERS})
        self.assertEqual([entry["args"]["loss"] for entry in trace.summary["largest"][0]["entries"]], [Decimal(repr(1 / 3)), "nan", "inf"])

    def test_what_cannot_be_read_or_computed(self):
        for clause, said in (("event step.done(lr)", "it is a `double`: the kernel gives probes no floating-point registers"),
                             ("sum s->loss", "what is summed or measured is an integer"),
                             ("learn loss[tid] = s->loss  event step.done", "what is learnt is an integer"),
                             ("where s->loss  count", "a condition is a number or a comparison"),
                             ("where s->loss > 1  count", "`s->loss` is a floating-point number, and an operand is an integer")):
            with self.subTest(clause=clause):
                done = self.mlbcc("check", "-e", HEADER + f'on "{self.program}":done {{ {clause} }}')
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)
