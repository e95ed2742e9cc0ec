"""A virtual machine with a kernel of its own: which kernel, how it boots, what is built for it."""

from .kernel import KERNELS, Kernel, fetch
from .machine import VM_FAILED, run, why_not
from .standin import build_standin
from .unavailable import Unavailable

__all__ = ["KERNELS", "Kernel", "Unavailable", "VM_FAILED", "build_standin", "fetch", "run",
           "why_not"]
