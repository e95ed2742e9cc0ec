"""tests/runtime/test_patterns.py on this kernel: what older verifiers make of a text's end, which lies at a variable place."""

import test_patterns
from inside.case import VmCase


class Patterns(test_patterns.Patterns, VmCase):
    pass
