"""The tests that run in the virtual machine, as root, with the stand-in's modules loaded."""
