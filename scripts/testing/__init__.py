"""The parts of scripts/run_tests.py."""
