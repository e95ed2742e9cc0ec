"""docs/security.md: each of its statements has a test that would fail where it is not true."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# How a statement begins -> the tests, by file and name; or, where there can be none, why.
PROOFS = {
    "Where mlbcc has more rights than its caller": [
        "runtime/test_caller.py:test_what_the_caller_may_not_read", "runtime/test_caller.py:test_what_the_caller_may_not_write",
        "runtime/test_caller.py:test_files_that_are_made_are_the_caller_s", "unit/base/as_caller_test.cpp:AreThoseThatTheCallerMayRead"],
    "A saved trace is read": ["runtime/test_caller.py:test_what_the_caller_may_not_read"],
    "Rule files, C headers, templates": [
        "runtime/test_trusted.py:test_a_rule_file", "runtime/test_trusted.py:test_a_header", "runtime/test_trusted.py:test_a_template",
        "runtime/test_caller.py:test_options_of_another_s_file"],
    "C headers are parsed": [
        "runtime/test_caller.py:test_what_the_caller_may_not_read", "runtime/test_caller.py:test_what_a_header_includes_is_a_file",
        "runtime/test_caller.py:test_what_a_header_includes_is_no_larger_than_a_header"],
    "The traced command runs as the caller": [
        "runtime/test_process.py:test_under_sudo_the_command_is_the_callers", "runtime/test_process.py:test_under_sudo_with_root",
        "runtime/test_caller.py:test_a_set_user_id_program"],
    "A name without a `/`": ["runtime/test_caller.py:test_a_name_is_a_bundled_file"],
    "An installed mlbcc": ["runtime/test_caller.py:test_an_installed_program_uses_what_is_installed_with_it"],
    "Its files are opened below its root": [
        "unit/base/open_file_test.cpp:LinksLeadNowhereButBelowTheRoot", "unit/base/open_file_test.cpp:OfAProcessItIsWhatThatSees",
        "runtime/test_hostile.py:test_a_link_to_a_file_of_the_host"],
    "Nothing but regular files": ["unit/base/open_file_test.cpp:PipesAndDevicesAreNotOpened", "runtime/test_hostile.py:test_pipes_and_devices_of_a_container"],
    "A file is taken for one that is mapped": ["unit/base/process_maps_test.cpp:KnowsAFileByItsInodeAndDevice"],
    "Probes go into the file": ["unit/base/open_file_test.cpp:AHeldPathLeadsWhereItDid"],
    "A perf map": [
        "unit/symbols/made_code_test.cpp:AreNotThoseOfWhatIsNoFileOfTheProcessesUser", "unit/symbols/made_code_test.cpp:OfALargeFileHaveTheNewest",
        "unit/symbols/mappings_test.cpp:HasAsManyNamesAsMayBe", "runtime/test_hostile.py:test_perf_maps_of_others"],
    "Names reach a terminal": ["runtime/test_names.py:test_every_view_of_a_trace", "runtime/test_names.py:test_what_clients_ask_a_server_for"],
    "In a folder where others may write": [
        "unit/base/as_caller_test.cpp:AreNotMadeThroughWhatOthersPutThere", "runtime/test_caller.py:test_traces_in_a_folder_of_another_s"],
    "The cache of compiled programs": ["runtime/test_cache.py:test_files_of_others_are_no_answers", "unit/base/file_cache_test.cpp:RemovesItsOwnFilesOnly"],
    "Once the probes are attached": [
        "runtime/test_rights.py:test_none_for_a_process", "runtime/test_rights.py:test_those_for_stacks",
        "runtime/test_caller.py:test_files_that_are_made_are_the_caller_s"],
    "The process that waits for libraries": ["runtime/test_rights.py:test_those_for_libraries_that_come_later"],
    "`mlbcc-bcc` and that process end": [
        "runtime/test_caller.py:test_the_helper_ends_with_the_tracer", "unit/bpf/compiler_test.cpp:IsNotWaitedForWithoutEnd",
        "unit/host/open_guard_test.cpp:IsNotWaitedForWithoutEnd"],
    "It can call traced functions": ["runtime/test_losses.py:test_a_number_says_whether_a_loss_touches_it"],
    "It can give itself": "what it does not do",
    "It can make a file system": "what it does not do",
    "Its ELF files": ["unit/elf/elf_test.cpp", "unit/symbols/unwind_damage_test.cpp"],
}


class Security(unittest.TestCase):
    def test_each_statement_has_a_test(self):
        text = (ROOT / "docs/security.md").read_text()
        statements = [re.sub(r"\s+", " ", one) for one in re.findall(r"^\* (.*(?:\n  .*)*)", text, re.MULTILINE)]
        self.assertEqual(len(statements), len(PROOFS))
        for statement, (begin, proofs) in zip(statements, PROOFS.items()):
            with self.subTest(statement=begin):
                self.assertTrue(statement.startswith(begin), statement)
                for proof in proofs if isinstance(proofs, list) else []:
                    file, _, name = proof.partition(":")
                    self.assertIn(name, (ROOT / "tests" / file).read_text(), proof)


if __name__ == "__main__":
    unittest.main()
