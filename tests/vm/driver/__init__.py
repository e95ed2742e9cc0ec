"""The tests that run in the virtual machine, as root, with NVIDIA's own modules loaded."""
