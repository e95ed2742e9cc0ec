#include "bpf/compiler_json.h"

#include "text/json.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mlbcc::bpf {

namespace {

using Value = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// ---- writing

void write(Writer& writer, const char* name, std::string_view text) {
    writer.Key(name);
    writer.String(text.data() == nullptr ? "" : text.data(),
                  static_cast<rapidjson::SizeType>(text.size()));
}

void write(Writer& writer, const char* name, const std::vector<std::string>& texts) {
    writer.Key(name);
    writer.StartArray();
    for (const std::string& text : texts) {
        writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    }
    writer.EndArray();
}

// Begins an object that "request" opens, and gives its text when it is closed.
class Request {
public:
    explicit Request(const char* name) : writer_(buffer_) {
        writer_.StartObject();
        write(writer_, "request", std::string_view(name));
    }
    Writer& writer() { return writer_; }
    std::string text() {
        writer_.EndObject();
        return {buffer_.GetString(), buffer_.GetSize()};
    }

private:
    rapidjson::StringBuffer buffer_;
    Writer writer_;
};

std::string hexadecimal(std::span<const std::byte> code) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(code.size() * 2);
    for (std::byte byte : code) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
}

std::string_view type_name(ProgramType type) {
    switch (type) {
    case ProgramType::kprobe: return "kprobe";
    case ProgramType::tracepoint: return "tracepoint";
    case ProgramType::raw_tracepoint: return "raw_tracepoint";
    }
    return "";
}

void write_programs(Writer& writer, const std::vector<ProgramRequest>& programs) {
    writer.Key("programs");
    writer.StartArray();
    for (const ProgramRequest& program : programs) {
        writer.StartObject();
        write(writer, "name", program.name);
        write(writer, "type", type_name(program.type));
        if (program.attach_type) {
            writer.Key("expected_attach_type");
            writer.Uint(*program.attach_type);
        }
        writer.EndObject();
    }
    writer.EndArray();
}

void write_value(Writer& writer, uint32_t id) {
    writer.Uint(id);
}
void write_value(Writer& writer, const std::string& name) {
    writer.String(name.c_str());
}

// {"2147418113":98765}
template <typename Value>
void write_numbered(Writer& writer, const char* key, const std::map<uint32_t, Value>& numbered) {
    writer.Key(key);
    writer.StartObject();
    for (const auto& [number, value] : numbered) {
        writer.Key(std::to_string(number).c_str());
        write_value(writer, value);
    }
    writer.EndObject();
}

// ---- reading

Error broken_reply() {
    return Error{"the compiler helper sent an invalid reply"};
}

Error failure_of(const Value& reply) {
    return Error{
        json::text_of(reply, "error"), static_cast<int>(json::number_of(reply, "code")), {}};
}

// [[0,12,"r6 = r1"],...]
std::vector<ListedInstruction> listing_of(const Value& object) {
    std::vector<ListedInstruction> listing;
    for (const Value* one : json::list_of(object, "listing")) {
        bool whole = one->IsArray() && one->Size() == 3 && (*one)[0].IsUint() &&
                     (*one)[1].IsUint() && (*one)[2].IsString();
        if (whole)
            listing.push_back({(*one)[0].GetUint(), (*one)[1].GetUint(), (*one)[2].GetString()});
    }
    return listing;
}

CompileError compile_error(const Value& reply) {
    bool load = json::text_of(reply, "stage") == "load";
    return CompileError{load ? CompileError::Stage::load : CompileError::Stage::compile,
                        json::text_of(reply, "error"),
                        static_cast<int>(json::number_of(reply, "code")),
                        json::text_of(reply, "program"),
                        json::text_of(reply, "log"),
                        listing_of(reply)};
}

// The descriptor that "fd" counts; none where it is absent.
Result<UniqueFd> take_fd(const Value& object, std::vector<UniqueFd>& fds) {
    const Value* index = json::field(object, "fd");
    if (index == nullptr) return UniqueFd();
    if (!index->IsUint64() || index->GetUint64() >= fds.size()) return broken_reply();
    return std::move(fds[index->GetUint64()]);
}

Result<std::string> content_of(const UniqueFd& file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return broken_reply();
    std::string content(static_cast<size_t>(status.st_size), '\0');
    ssize_t got = ::pread(file.get(), content.data(), content.size(), 0);
    if (got != static_cast<ssize_t>(content.size())) return broken_reply();
    return content;
}

Result<CompiledMap> read_map(const Value& value, std::vector<UniqueFd>& fds) {
    auto fd = take_fd(value, fds);
    if (!fd) return fd.error();
    return CompiledMap{json::text_of(value, "name"),      json::u32_of(value, "id"),
                       json::u32_of(value, "type"),       json::u32_of(value, "key_size"),
                       json::u32_of(value, "value_size"), json::u32_of(value, "max_entries"),
                       json::u32_of(value, "flags"),      std::move(*fd)};
}

Result<CompiledProgram> read_program(const Value& value, std::vector<UniqueFd>& fds) {
    auto fd = take_fd(value, fds);
    if (!fd) return fd.error();
    return CompiledProgram{json::text_of(value, "name"), json::u32_of(value, "insns"),
                           listing_of(value), std::move(*fd)};
}

Result<CompileResult> read_success(const Value& reply, std::vector<UniqueFd>& fds) {
    Compiled compiled;
    for (const Value* value : json::list_of(reply, "maps")) {
        auto map = read_map(*value, fds);
        if (!map) return map.error();
        compiled.maps.push_back(std::move(*map));
    }
    for (const Value* value : json::list_of(reply, "programs")) {
        auto program = read_program(*value, fds);
        if (!program) return program.error();
        compiled.programs.push_back(std::move(*program));
    }
    compiled.warnings = json::text_of(reply, "log");
    if (json::field(reply, "bundle") != nullptr) {
        const uint64_t index = json::number_of(reply, "bundle");
        if (index >= fds.size()) return broken_reply();
        auto bundle = content_of(fds[index]);
        if (!bundle) return bundle.error();
        compiled.bundle = std::move(*bundle);
    }
    if (const Value* timings = json::field(reply, "timings")) {
        compiled.compile_ms = json::real_of(*timings, "compile_ms");
        compiled.load_ms = json::real_of(*timings, "load_ms");
    }
    return CompileResult(std::move(compiled));
}

}  // namespace

std::string request_json(const TypesRequest& request) {
    Request json("types");
    write(json.writer(), "headers", request.headers);
    write(json.writer(), "text", request.text);
    write(json.writer(), "include_dirs", request.include_dirs);
    write(json.writer(), "system_dirs", request.system_dirs);
    if (request.names) write(json.writer(), "names", *request.names);
    json.writer().Key("list_files");
    json.writer().Bool(request.list_files);
    if (request.of_kernel) {
        json.writer().Key("of_kernel");
        json.writer().Bool(true);
    }
    return json.text();
}

std::string request_json(const std::string& architecture, std::span<const FunctionCode> functions) {
    Request json("entries");
    write(json.writer(), "arch", architecture);
    json.writer().Key("functions");
    json.writer().StartArray();
    for (const FunctionCode& function : functions) {
        json.writer().StartObject();
        write(json.writer(), "code", hexadecimal(function.code));
        json.writer().Key("size");
        json.writer().Uint64(function.size);
        if (function.ends) {
            json.writer().Key("ends");
            json.writer().Bool(true);
        }
        json.writer().EndObject();
    }
    json.writer().EndArray();
    return json.text();
}

std::string request_json(const CompileRequest& request) {
    Request json("compile");
    write(json.writer(), "source", request.source);
    write(json.writer(), "file", request.file);
    write(json.writer(), "cflags", request.cflags);
    write(json.writer(), "kernel_dir", request.kernel_dir);
    write_programs(json.writer(), request.programs);
    write_numbered(json.writer(), "kfuncs", request.kfuncs);
    write_numbered(json.writer(), "commons", request.commons);
    json.writer().Key("maps");
    json.writer().StartArray();
    for (const auto& [name, fd] : request.maps) json.writer().String(name.c_str());
    json.writer().EndArray();
    json.writer().Key("emit_only");
    json.writer().Bool(request.emit_only);
    json.writer().Key("listing");
    json.writer().Bool(request.listing);
    json.writer().Key("bundle");
    json.writer().Bool(request.bundle);
    return json.text();
}

std::string versions_request_json() {
    return Request("versions").text();
}

// {"ok":true, or {"ok":false, stand first: the 200 kB of types are not parsed twice
Result<void> check_reply(std::string_view json) {
    if (json.starts_with("{\"ok\":true")) return {};
    rapidjson::Document reply;
    reply.Parse(json.data(), json.size());
    if (reply.HasParseError() || json::field(reply, "error") == nullptr) return broken_reply();
    return failure_of(reply);
}

CodeEnds ends_of(const Value& entry) {
    CodeEnds ends;
    const Value* value = json::field(entry, "ends");
    if (value == nullptr || !value->IsObject()) return ends;
    for (const Value* one : json::list_of(*value, "returns")) {
        if (one->IsUint64()) ends.returns.push_back(one->GetUint64());
    }
    for (const Value* one : json::list_of(*value, "jumps")) {
        const Value *at = json::field(*one, "at"), *to = json::field(*one, "to"),
                    *condition = json::field(*one, "condition");
        if (at == nullptr || !at->IsUint64() || to == nullptr || !to->IsInt64()) continue;
        CodeJump jump{at->GetUint64(), to->GetInt64(), std::nullopt};
        if (condition != nullptr && condition->IsUint()) jump.condition = condition->GetUint() & 15;
        ends.jumps.push_back(jump);
    }
    for (const Value* one : json::list_of(*value, "pointers")) {
        if (one->IsUint64()) ends.pointers.push_back(one->GetUint64());
    }
    ends.pointer = json::text_of(*value, "pointer");
    ends.unknown = json::text_of(*value, "unknown");
    return ends;
}

Result<std::vector<EntryChoice>> read_entries(std::string_view json) {
    rapidjson::Document reply;
    reply.Parse(json.data(), json.size());
    if (reply.HasParseError()) return broken_reply();
    if (!json::flag_of(reply, "ok")) return failure_of(reply);
    std::vector<EntryChoice> choices;
    for (const Value* value : json::list_of(reply, "entries")) {
        choices.push_back(EntryChoice{
            json::number_of(*value, "offset"), json::text_of(*value, "why"),
            json::flag_of(*value, "refused"), ends_of(*value), json::flag_of(*value, "stepped")});
    }
    return choices;
}

Result<CompileResult> read_compiled(Message message) {
    rapidjson::Document reply;
    reply.Parse(message.json.data(), message.json.size());
    if (reply.HasParseError()) return broken_reply();
    if (!json::flag_of(reply, "ok")) return CompileResult(compile_error(reply));
    return read_success(reply, message.fds);
}

Result<CompilerVersions> read_versions(std::string_view json) {
    rapidjson::Document reply;
    reply.Parse(json.data(), json.size());
    if (reply.HasParseError()) return broken_reply();
    if (!json::flag_of(reply, "ok")) return failure_of(reply);
    return CompilerVersions{json::text_of(reply, "clang"), json::text_of(reply, "libbcc")};
}

}  // namespace mlbcc::bpf
