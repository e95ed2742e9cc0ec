"""tests/runtime/test_untouched.py on this kernel, which may not know of a moment before a new program."""

import test_untouched
from inside.case import VmCase


class Untouched(test_untouched.Untouched, VmCase):
    test_as_strace_has_it = None  # there is no strace


class Functions(test_untouched.Functions, VmCase):
    pass
