"""tests/runtime/test_filtered.py on this kernel, which may preempt the programs of tracepoints (they are perf's then)."""

import test_filtered
from inside.case import VmCase


class Filtered(test_filtered.Filtered, VmCase):
    test_as_many_as_strace_has = None  # the virtual machine has no strace
    test_a_profile = None  # nor time for so many programs
