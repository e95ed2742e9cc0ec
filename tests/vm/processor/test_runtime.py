"""Those tests of tests/runtime that say what depends on the processor: where arguments, results,
stacks and the registers of system calls are, how probes attach, what the simulated driver's calls are."""

import unittest

CHOSEN = (
    "test_args.Args",
    "test_values.Values.test_out_parameters_are_read_at_return",
    "test_values.Values.test_small_structures_by_value",
    "test_values.Values.test_built_in_names",
    "test_clauses.Clauses.test_where_keeps_spans_whole",
    "test_clauses.Clauses.test_stack",
    "test_order.Tree.test_every_call_every_pair_every_parent",
    "test_order.Jumps",
    "test_own_time.OwnTime",
    "test_entry.Ways",
    "test_kernel.Syscalls",
    "test_kernel.Tracepoints.test_text_fields",
    "test_kernel_stacks.KernelStacks",
    "test_usdt.Probes",
    "test_cuda.Simulated.test_each_call_of_the_apps_log",
    "test_cuda.Simulated.test_memory",
    "test_cuda.Simulated.test_launches_by_name",
)


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromNames(CHOSEN))
