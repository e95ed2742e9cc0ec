#include "compiler/reply.h"

#include <cmath>

namespace mlbcc::compiler {

Reply failure(const Failure& failure) {
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("ok");
    writer.Bool(false);
    write(writer, "error", failure.error.what);
    write(writer, "code", static_cast<uint64_t>(failure.error.code));
    write(writer, "stage", failure.stage);
    write(writer, "program", failure.program);
    write(writer, "log", failure.log);
    if (!failure.listing.empty()) write_listing(writer, failure.listing);
    writer.EndObject();
    return Reply{{buffer.GetString(), buffer.GetSize()}, {}};
}

double ms_since(std::chrono::steady_clock::time_point start) {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - start).count();
}

void write_ms(JsonWriter& writer, const char* name, double milliseconds) {
    writer.Key(name);
    writer.Double(std::round(milliseconds * 1000) / 1000);
}

void write_listing(JsonWriter& writer, const std::vector<Listed>& listing) {
    writer.Key("listing");
    writer.StartArray();
    for (const Listed& one : listing) {
        writer.StartArray();
        writer.Uint(one.instruction);
        writer.Uint(one.line);
        writer.String(one.text.data(), static_cast<rapidjson::SizeType>(one.text.size()));
        writer.EndArray();
    }
    writer.EndArray();
}

}  // namespace mlbcc::compiler
