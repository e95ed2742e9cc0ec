#include <chrono>

#include "compiler/ends.h"
#include "compiler/entry.h"

namespace mlbcc::compiler {

namespace {

using Clock = std::chrono::steady_clock;

struct EntryJob {
    Architecture architecture{};
    KernelAbilities kernel;
};

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// "f30f1efa" -> 4 bytes, up to the first pair that is not hexadecimal
std::vector<uint8_t> bytes_of(std::string_view hex) {
    std::vector<uint8_t> bytes;
    bytes.reserve(hex.size() / 2);
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0) break;
        bytes.push_back(static_cast<uint8_t>(high * 16 + low));
    }
    return bytes;
}

Result<EntryJob> read_entry_job(const JsonValue& request) {
    const std::string name = json::text_of(request, "arch");
    auto architecture = architecture_named(name);
    if (!architecture) return Error{"cannot disassemble the architecture `" + name + "`"};
    EntryJob job{*architecture, running_kernel()};
    if (request.HasMember("long_nops")) job.kernel.long_nops = json::flag_of(request, "long_nops");
    return job;
}

void write_ends(JsonWriter& writer, const Ends& ends) {
    writer.Key("ends");
    writer.StartObject();
    writer.Key("returns");
    writer.StartArray();
    for (const uint64_t one : ends.returns) writer.Uint64(one);
    writer.EndArray();
    writer.Key("jumps");
    writer.StartArray();
    for (const Jump& one : ends.jumps) {
        writer.StartObject();
        write(writer, "at", one.at);
        writer.Key("to");
        writer.Int64(one.to);
        if (one.condition >= 0) write(writer, "condition", static_cast<uint64_t>(one.condition));
        writer.EndObject();
    }
    writer.EndArray();
    writer.Key("pointers");
    writer.StartArray();
    for (const uint64_t one : ends.pointers) writer.Uint64(one);
    writer.EndArray();
    write(writer, "pointer", ends.pointer);
    write(writer, "unknown", ends.unknown);
    writer.EndObject();
}

void write_entry(JsonWriter& writer, const Entry& entry, const Ends* ends) {
    writer.StartObject();
    write(writer, "offset", entry.offset);
    write(writer, "why", entry.why);
    writer.Key("refused");
    writer.Bool(entry.refused);
    writer.Key("stepped");
    writer.Bool(entry.stepped);
    if (ends != nullptr) write_ends(writer, *ends);
    writer.EndObject();
}

void write_entries(JsonWriter& writer, const JsonValue& request, const EntryJob& job,
                   const Disassembler& disassembler) {
    writer.Key("entries");
    writer.StartArray();
    for (const JsonValue* function : json::list_of(request, "functions")) {
        std::vector<uint8_t> code = bytes_of(json::text_of(*function, "code"));
        uint64_t size = json::number_of(*function, "size");
        std::optional<Ends> ends;
        if (json::flag_of(*function, "ends")) ends = find_ends(disassembler, code, size);
        write_entry(writer, choose_entry(disassembler, code, size, job.kernel),
                    ends ? &*ends : nullptr);
    }
    writer.EndArray();
}

}  // namespace

Reply choose_entries(const JsonValue& request) {
    auto start = Clock::now();
    auto job = read_entry_job(request);
    if (!job) return failure({job.error(), "", "", ""});
    auto disassembler = Disassembler::create(job->architecture);
    if (!disassembler) return failure({disassembler.error(), "", "", ""});
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("ok");
    writer.Bool(true);
    write_entries(writer, request, *job, *disassembler);
    writer.Key("timings");
    writer.StartObject();
    write_ms(writer, "total_ms", ms_since(start));
    writer.EndObject();
    writer.EndObject();
    return Reply{{buffer.GetString(), buffer.GetSize()}, {}};
}

}  // namespace mlbcc::compiler
