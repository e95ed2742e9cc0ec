"""tests/runtime/test_unharmed.py on this kernel, with the ways to attach that it has."""

import test_unharmed
from harness.machine import attach_ways
from inside.case import VmCase


class Unharmed(test_unharmed.Unharmed, VmCase):
    def check(self, *command, ways=("session",), **more):
        known = attach_ways()
        mine = [way for way in ways if way in known] or known[:1]
        super().check(*command, ways=mine[:1] if test_unharmed.RUNS > 1 else mine, **more)
