"""tests/runtime/test_large_keys.py on this kernel: what older verifiers make of keys and texts that are not on BPF's stack."""

import test_large_keys
from inside.case import VmCase


class LargeKeys(test_large_keys.LargeKeys, VmCase):
    pass


class Buckets(test_large_keys.Buckets, VmCase):
    pass


class Beside(test_large_keys.Beside, VmCase):
    pass
