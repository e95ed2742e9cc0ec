"""Rule files at random, of what the language has: each is right, and must be compiled and loaded.

    python3 tests/runtime/harness/random_rules.py SEED > random.rules
"""

import random
import sys

# Parameters by function of targets/target.h: numbers, signed ones, texts, and memory that is known at both ends.
FUNCTIONS = {
    "take_small": {"numbers": "abcdef"},
    "take_wide": {"numbers": "abcdef"},
    "take_text": {"texts": ("name", "empty")},
    "take_long_text": {"texts": ("text",)},
    "take_pointers": {"numbers": ("p", "q", "d")},
    "fill_out": {"ended": ("*out", "*wide", "where->x")},
    "read_in": {"numbers": ("*in", "p->x", "p->y")},
    "take_struct": {"numbers": ("m->rows", "m->kind", "m->at.y", "m->dims[2]", "m->flags.mid"), "texts": ("m->name", "m->tag"), "lists": ("m->dims",)},
    "take_many": {"numbers": "abcdefghj", "texts": ("i",)},
    "mix": {"numbers": "ab"},
    "echo_int": {"numbers": "n"},
    "negative": {"numbers": "n"},
    "big_number": {"numbers": "n"},
    "huge_number": {"numbers": "n"},
    "name_of": {"numbers": "n"},
}
SYSCALLS = {
    "openat": {"numbers": ("dfd", "flags"), "texts": ("filename",)},
    "read": {"numbers": ("fd", "count"), "texts": ("file_name(fd)",)},
    "write": {"numbers": ("fd", "count"), "texts": ("file_name(fd)",)},
    "getppid": {},
    "mmap": {"numbers": ("addr", "len", "prot")},
}
MOMENTS = {
    "sched:off_cpu": {"numbers": ("state", "duration"), "texts": ("waker",)},
    "lock:futex": {"numbers": ("address", "duration")},
    "tracepoint:sched:sched_process_exec": {"texts": ("filename",)},
    "tracepoint:sched:sched_switch": {"numbers": ("prev_pid", "next_prio"), "texts": ("prev_comm",)},
}
INTERVAL = {"numbers": ("resident", "threads", "cpu_time_change", "virtual", "minor_faults")}


class Rule:
    """One rule: what its values may be depends on what it is on and at which end it acts."""

    def __init__(self, dice, number, tables):
        self.dice, self.number, self.tables = dice, number, tables
        self.kind = dice.choices(("function", "syscall", "moment", "interval"), (8, 5, 3, 1))[0]
        named = {"function": FUNCTIONS, "syscall": SYSCALLS, "moment": MOMENTS, "interval": {"interval:100ms": INTERVAL}}[self.kind]
        self.name = dice.choice(sorted(named))
        self.known = named[self.name]
        self.entry = self.kind in ("function", "syscall") and dice.random() < 0.25
        self.call = self.kind in ("function", "syscall") and not self.entry
        self.spans = False  # what the tracer decides chooses no span

    def target(self, library):
        if self.kind == "function":
            return f'"{library}":{self.name}'
        return f"syscall:{self.name}" if self.kind == "syscall" else self.name

    def number_leaf(self):
        leaves = [*self.known.get("numbers", ()), "pid", "1", "4096", "7"]
        if self.kind != "interval":
            leaves += ["tid", "cpu"]
        if self.call:
            leaves += ["duration", *self.known.get("ended", ())]
            if self.name != "name_of":
                leaves += ["ret"]
        return self.dice.choice(leaves)

    def number_of(self, depth=0):
        dice = self.dice
        if depth > 2 or dice.random() < 0.55:
            return self.number_leaf()
        a, b = self.number_of(depth + 1), self.number_of(depth + 1)
        if dice.random() < 0.15:
            return f"({self.condition(depth + 1)} ? {a} : {b})"
        return f"({a} {dice.choice('+ - * / % & | ^'.split())} {b})"

    def text_of(self):
        texts = [*self.known.get("texts", ()), "comm"]
        if self.kind == "function" and self.call and self.name == "name_of":
            texts += ["ret"]
        if self.kind in ("function", "syscall"):
            texts += ["function"]
        return self.dice.choice(texts)

    def condition(self, depth=0):
        dice, texts = self.dice, self.known.get("texts", ())
        if depth < 2 and dice.random() < 0.3:
            return f"({self.condition(depth + 1)} {dice.choice(('&&', '||'))} {self.condition(depth + 1)})"
        if texts and dice.random() < 0.4:
            text = dice.choice(texts)
            kernels = (f'{text} == "one"', f'{text} != "/etc/ld.so.cache"', f'starts_with({text}, "/usr")', f'ends_with({text}, ".so.6")',
                       f'{text} ~ "/usr/*.so"', f'{text} ~ "*ne"')
            tracers = (f'contains({text}, "lib")', f'{text} ~ "*l*b*"', f'{text} ~ "on[a-e]"')
            return dice.choice(kernels if self.spans else (*kernels, *tracers))
        return f"{self.number_of(depth + 1)} {dice.choice('< <= > >= == !='.split())} {self.number_leaf()}"

    def key(self):
        return self.text_of() if self.dice.random() < 0.45 else self.number_of()

    def fields(self, most=5):
        lists = self.known.get("lists", ()) if self.dice.random() < 0.3 else ()
        wanted = [f"l{i} = {one}" for i, one in enumerate(lists)]
        wanted += [f"v{i} = {self.key()}" for i in range(self.dice.randint(1, most))]
        if self.kind == "function" and self.dice.random() < 0.2:
            return "args"
        return ", ".join(wanted)

    def each(self):
        """Clauses for several numbers: not the same texts as outside, since they are counted by themselves."""
        count = self.dice.randint(1, 4)
        clause = self.dice.choice((f'count by k = {self.number_leaf()} + nth as "count {self.number}.each"',
                                   f'sum {self.number_leaf()} + nth as "sum {self.number}.each"'))
        return f"each nth in 0..{count} {{ where nth < {self.number_leaf()}   {clause} }}"

    def groups(self):
        if self.dice.random() < 0.3:
            return ""
        stack = ["stack"] if self.kind != "interval" and self.dice.random() < 0.1 else []
        return " by " + ", ".join([*(f"k{i} = {self.key()}" for i in range(self.dice.randint(1, 3))), *stack])

    def clause(self, index):
        dice, label = self.dice, f"{self.number}.{index}"
        kinds = ["event", "count", "sum", "hist", "largest"]
        if self.call:
            kinds += ["span"]
        if self.kind != "interval":
            kinds += ["gauge", "learn"]
        kind = dice.choice(kinds)
        if kind == "event":
            return f"event random.e{index}({self.fields()})"
        if kind == "span":
            return f"span random({self.fields()})"
        if kind == "count":
            return f'count{self.groups()} as "count {label}"'
        if kind in ("sum", "hist"):
            return f'{kind} {self.number_of()}{self.groups()} as "{kind} {label}"'
        if kind == "largest":
            return f'largest {dice.randint(1, 20)} by v = {self.number_of()} as "Largest {label}" ({self.fields(3)})'
        if kind == "gauge":
            name = f"g{self.number}_{index}"
            return dice.choice((f"gauge {name} += {self.number_leaf()}", f"gauge {name}[{self.number_leaf()}] = {self.number_leaf()}"))
        self.tables.append(f"t{self.number}_{index}")
        return f"learn {self.tables[-1]}[{self.number_leaf()}] = {self.text_of()}"

    def text(self, library):
        clauses = [self.clause(i) for i in range(self.dice.randint(1, 4))]
        lines = []
        span = any(clause.startswith("span") for clause in clauses)
        if self.dice.random() < 0.35:
            entry = Rule.__new__(Rule)
            entry.__dict__ = {**self.__dict__, "call": self.call and not span, "spans": span}
            lines += [f"let wanted = {entry.condition()}", "where wanted"] if self.dice.random() < 0.3 else [f"where {entry.condition()}"]
        sampled = self.kind != "interval" and self.dice.random() < 0.1
        if sampled:
            lines += [f"sample 1/{self.dice.randint(2, 9)}"]
        lines += clauses
        if not span and not sampled and self.dice.random() < 0.1:
            lines += [self.each()]
        told = any(clause.startswith(("event", "span", "largest")) for clause in clauses)
        if told and self.kind in ("function", "syscall") and self.dice.random() < 0.3:
            stacks = ("user", "python", "kernel") if self.kind == "syscall" else ("user", "python")
            lines += ["stack " + self.dice.choice(stacks)]
        head = f"on {'entry ' if self.entry else ''}{self.target(library)}"
        return head + " {\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def random_rules(seed, library, header):
    """The text of a rule file: one to six rules."""
    dice, tables = random.Random(seed), []
    rules = [Rule(dice, number, tables) for number in range(dice.randint(1, 6))]
    text = "".join(rule.text(library) for rule in rules)
    if tables and dice.random() < 0.7:  # what was learnt is looked up
        text += f'on syscall:getppid {{ count by {dice.choice(tables)}[pid] as "looked up" }}\n'
    return f'header "{header}"\n{text}'


if __name__ == "__main__":
    print(random_rules(int(sys.argv[1]), "libtarget.so", "target.h"))
