"""The tests that run in the virtual machine of another processor, as root."""
