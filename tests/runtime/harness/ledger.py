"""Rules at random on the functions of targets/ledger.c, and what they must say of its calls: each expression is there twice, as
the language has it and as Python does. Numbers are small and positive, so that both mean the same."""

import random
from collections import defaultdict

FUNCTIONS = "ledger_add", "ledger_mix", "ledger_pick"
HEAD = "".join(f"unsigned long {name}(unsigned long a, unsigned long b, unsigned long c, const char *name);\n" for name in FUNCTIONS)
OPERATORS = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "/": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0,
}
COMPARISONS = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}


class Value:
    """Text of the language, and a function of a call."""

    def __init__(self, text, of):
        self.text, self.of = text, of


class Rule:
    def __init__(self, dice, number):
        self.dice, self.number = dice, number
        self.entry = dice.random() < 0.3
        self.targets = dice.sample(FUNCTIONS, dice.randint(1, 3))
        self.condition = self.holds() if dice.random() < 0.6 else None
        self.clauses = [self.clause(i) for i in range(dice.randint(1, 4))]

    def leaf(self):
        names = "a b c".split() + ([] if self.entry else ["ret"])
        if self.dice.random() < 0.25:
            constant = self.dice.randint(1, 20)
            return Value(str(constant), lambda call: constant)
        name = self.dice.choice(names)
        return Value(name, lambda call: call[name])

    def value(self, depth=0):
        if depth > 1 or self.dice.random() < 0.4:
            return self.leaf()
        a, b = self.value(depth + 1), self.value(depth + 1)
        sign = self.dice.choice(sorted(OPERATORS))
        return Value(f"({a.text} {sign} {b.text})", lambda call: OPERATORS[sign](a.of(call), b.of(call)))

    def holds(self, depth=0):
        if depth < 1 and self.dice.random() < 0.4:
            a, b = self.holds(1), self.holds(1)
            if self.dice.random() < 0.5:
                return Value(f"({a.text} && {b.text})", lambda call: a.of(call) and b.of(call))
            return Value(f"({a.text} || {b.text})", lambda call: a.of(call) or b.of(call))
        if self.dice.random() < 0.3:
            text = self.dice.choice(("one", "two", ""))
            return Value(f'name == "{text}"', lambda call: call["name"] == text)
        a, b = self.value(1), self.leaf()
        sign = self.dice.choice(sorted(COMPARISONS))
        return Value(f"{a.text} {sign} {b.text}", lambda call: COMPARISONS[sign](a.of(call), b.of(call)))

    def key(self):
        which = self.dice.random()
        if which < 0.3:
            return Value("name", lambda call: call["name"])
        if which < 0.5:
            return Value("function", lambda call: call["function"])
        a, most = self.value(1), self.dice.randint(2, 30)
        return Value(f"({a.text} % {most})", lambda call: a.of(call) % most)

    def clause(self, index):
        kind = self.dice.choice(("count", "sum", "hist", "event"))
        keys = [] if kind == "event" else [self.key() for _ in range(self.dice.randint(0, 2))]
        values = [self.value() for _ in range(self.dice.randint(1, 3))] if kind == "event" else [self.value()]
        return kind, f"{kind} {self.number}.{index}", keys, values

    def text(self, program):
        lines = [f"    where {self.condition.text}\n"] if self.condition else []
        for index, (kind, label, keys, values) in enumerate(self.clauses):
            if kind == "event":
                fields = ", ".join(f"v{i} = {value.text}" for i, value in enumerate(values))
                lines.append(f"    event r{self.number}.e{index}({fields})\n")
                continue
            by = " by " + ", ".join(f"k{i} = {key.text}" for i, key in enumerate(keys)) if keys else ""
            lines.append(f'    {kind}{" " + values[0].text if kind != "count" else ""}{by} as "{label}"\n')
        targets = ", ".join(f'"{program}":{name}' for name in self.targets)
        return f"on {'entry ' if self.entry else ''}{targets} {{\n{''.join(lines)}}}\n"

    def mine(self, calls):
        return [call for call in calls if call["function"] in self.targets and (not self.condition or self.condition.of(call))]

    def expected(self, calls):
        """{label: {key: (calls, sum, least, most)}} and {event: [values]}."""
        groups, events = {}, {}
        for index, (kind, label, keys, values) in enumerate(self.clauses):
            if kind == "event":
                events[f"r{self.number}", f"e{index}"] = [tuple(value.of(call) for value in values) for call in self.mine(calls)]
                continue
            found = defaultdict(list)
            for call in self.mine(calls):
                found[tuple(str(key.of(call)) for key in keys)].append(values[0].of(call))
            groups[label] = {key: (len(of), sum(of), min(of), max(of)) for key, of in found.items()}
            if not keys:
                groups[label].setdefault((), (0, 0, 0, 0))  # there is one number, whatever it is
        return groups, events


def random_rules(seed):
    dice = random.Random(seed)
    return [Rule(dice, number) for number in range(dice.randint(1, 5))]


def read_books(text):
    calls = []
    for line in text.splitlines():
        function, a, b, c, name, ret = line.split("\t")
        calls.append({"function": function, "a": int(a), "b": int(b), "c": int(c), "name": name, "ret": int(ret)})
    return calls
