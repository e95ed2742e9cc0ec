#include "compiler/job.h"

#include <linux/bpf.h>

namespace mlbcc::compiler {

namespace {

Result<int> program_type(std::string_view name) {
    if (name == "kprobe") return static_cast<int>(BPF_PROG_TYPE_KPROBE);
    if (name == "tracepoint") return static_cast<int>(BPF_PROG_TYPE_TRACEPOINT);
    if (name == "raw_tracepoint") return static_cast<int>(BPF_PROG_TYPE_RAW_TRACEPOINT);
    return Error{"there is no program type `" + std::string(name) + "`"};
}

Result<ProgramSpec> read_program(const JsonValue& value) {
    auto type = program_type(json::text_of(value, "type"));
    if (!type) return type.error();
    ProgramSpec spec{json::text_of(value, "name"), *type, -1};
    if (value.HasMember("expected_attach_type")) {
        spec.attach_type = static_cast<int>(json::number_of(value, "expected_attach_type"));
    }
    return spec;
}

Result<std::vector<ProgramSpec>> read_programs(const JsonValue& request) {
    std::vector<ProgramSpec> programs;
    for (const JsonValue* value : json::list_of(request, "programs")) {
        auto spec = read_program(*value);
        if (!spec) return spec.error();
        programs.push_back(std::move(*spec));
    }
    return programs;
}

// {"0x7fff0001":...}: calls `take` with each number and value.
template <typename Take>
void for_each_numbered(const JsonValue& request, const char* key, Take take) {
    auto member = request.FindMember(key);
    if (member == request.MemberEnd() || !member->value.IsObject()) return;
    for (const auto& [number, value] : member->value.GetObject()) {
        take(static_cast<int32_t>(std::strtoul(number.GetString(), nullptr, 0)), value);
    }
}

//   #line 1 "what the messages shall call it"
std::string name_line(std::string_view file) {
    std::string line = "#line 1 \"";
    for (char c : file) {
        if (c == '"' || c == '\\') line += '\\';
        line += c == '\n' ? ' ' : c;
    }
    return line + "\"\n";
}

}  // namespace

Result<Job> read_job(const JsonValue& request, std::vector<UniqueFd> fds) {
    Job job;
    std::vector<std::string> maps = json::texts_of(request, "maps");
    if (maps.size() != fds.size()) return Error{"the request does not have one descriptor per map"};
    for (size_t i = 0; i < maps.size(); ++i) job.maps.emplace(maps[i], std::move(fds[i]));
    const std::string file = json::text_of(request, "file");
    if (!file.empty()) job.source = name_line(file);
    job.source += json::text_of(request, "source");
    job.cflags = json::texts_of(request, "cflags");
    job.kernel_dir = json::text_of(request, "kernel_dir");
    for_each_numbered(request, "kfuncs", [&](int32_t number, const JsonValue& id) {
        if (id.IsInt()) job.kfuncs[number] = id.GetInt();
    });
    for_each_numbered(request, "commons", [&](int32_t number, const JsonValue& name) {
        if (name.IsString()) job.commons[number] = name.GetString();
    });
    job.emit_only = json::flag_of(request, "emit_only");
    job.listing = json::flag_of(request, "listing");
    job.bundle = json::flag_of(request, "bundle");
    auto programs = read_programs(request);
    if (!programs) return programs.error();
    job.programs = std::move(*programs);
    return job;
}

}  // namespace mlbcc::compiler
