"""tests/runtime/test_own_time.py on this kernel, whose calls may end without a session."""

import test_own_time
from inside.case import VmCase


class OwnTime(test_own_time.OwnTime, VmCase):
    pass
