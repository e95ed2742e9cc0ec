// What generated programs begin with: the numbers that templates are written in terms of, and the
// maps of counts, sums and histograms.
#pragma once

#include <string>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

bool has_kind(const plan::Plan& plan, plan::ProbeKind kind);
std::string file_offsets(const Options& options);
bool has_moving(const plan::Plan& plan);  // functions that end at instructions
bool uses_frames(const plan::Plan& plan, const Options& options);
bool walks_python(const plan::Plan& plan, const Options& options);  // for `stack python`
// Whether system calls that a filter answers are to be told from others.
bool follows_answers(const plan::Plan& plan, const Options& options);
// Whether the beginning of some system call may be told later, and of one that starts a program.
bool holds_calls(const plan::Plan& plan, const Options& options);
bool holds_execs(const plan::Plan& plan, const Options& options);
bool looks_for_pythons(const plan::Plan& plan, const Options& options);
// "#define MLBCC_OFFSET_task_struct_tgid 1234\n" for "task_struct.tgid".
std::string offset_define(std::string name, uint32_t offset);
std::string settings(const plan::Plan& plan, const Options& options, bool frames);
// Its own text, or what Options has in place of that.
DefinitionText definition_text(const rules::ProbeDefinition& definition, const Options& options);
std::string aggregate_map(const plan::Plan& plan, const plan::Aggregate& aggregate);

}  // namespace mlbcc::codegen
