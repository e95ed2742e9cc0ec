// The requests to mlbcc-bcc as JSON, and its replies read from it.
// tool/compiler/{types,entry,program}.h show the messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/channel.h"
#include "bpf/compiler.h"

namespace mlbcc::bpf {

std::string request_json(const TypesRequest& request);
std::string request_json(const std::string& architecture, std::span<const FunctionCode> functions);
std::string request_json(const CompileRequest& request);
std::string versions_request_json();

// An Error where the reply says that the request failed, or is not of the form expected.
Result<void> check_reply(std::string_view json);
Result<std::vector<EntryChoice>> read_entries(std::string_view json);
Result<CompileResult> read_compiled(Message message);
Result<CompilerVersions> read_versions(std::string_view json);

}  // namespace mlbcc::bpf
