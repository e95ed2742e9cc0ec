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
    auto type = program_type(text_field(value, "type"));
    if (!type) return type.error();
    ProgramSpec spec{std::string(text_field(value, "name")), *type, -1};
    if (value.HasMember("expected_attach_type")) {
        spec.attach_type = static_cast<int>(number_field(value, "expected_attach_type"));
    }
    return spec;
}

Result<std::vector<ProgramSpec>> read_programs(const JsonValue& request) {
    std::vector<ProgramSpec> programs;
    const JsonValue* list = list_field(request, "programs");
    if (list == nullptr) return programs;
    for (const JsonValue& value : list->GetArray()) {
        auto spec = read_program(value);
        if (!spec) return spec.error();
        programs.push_back(std::move(*spec));
    }
    return programs;
}

Kfuncs read_kfuncs(const JsonValue& request) {
    Kfuncs kfuncs;
    auto member = request.FindMember("kfuncs");
    if (member == request.MemberEnd() || !member->value.IsObject()) return kfuncs;
    for (const auto& [number, id] : member->value.GetObject()) {
        if (!id.IsInt()) continue;
        auto key = static_cast<int32_t>(std::strtoul(number.GetString(), nullptr, 0));
        kfuncs[key] = id.GetInt();
    }
    return kfuncs;
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

Result<Job> read_job(const JsonValue& request) {
    Job job;
    std::string_view file = text_field(request, "file");
    if (!file.empty()) job.source = name_line(file);
    job.source += text_field(request, "source");
    job.cflags = texts_field(request, "cflags");
    job.kernel_dir = text_field(request, "kernel_dir");
    job.kfuncs = read_kfuncs(request);
    job.emit_only = flag_field(request, "emit_only");
    auto programs = read_programs(request);
    if (!programs) return programs.error();
    job.programs = std::move(*programs);
    return job;
}

}  // namespace mlbcc::compiler
