#include "compiler/reply.h"

#include <cmath>

namespace mlbcc::compiler {

namespace {

const JsonValue* field(const JsonValue& object, const char* name) {
    if (!object.IsObject()) return nullptr;
    auto member = object.FindMember(name);
    return member == object.MemberEnd() ? nullptr : &member->value;
}

}  // namespace

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

std::string_view text_field(const JsonValue& object, const char* name) {
    const JsonValue* value = field(object, name);
    if (value == nullptr || !value->IsString()) return {};
    return {value->GetString(), value->GetStringLength()};
}

std::vector<std::string> texts_field(const JsonValue& object, const char* name) {
    std::vector<std::string> texts;
    const JsonValue* list = list_field(object, name);
    if (list == nullptr) return texts;
    for (const JsonValue& value : list->GetArray()) {
        if (value.IsString()) texts.emplace_back(value.GetString(), value.GetStringLength());
    }
    return texts;
}

uint64_t number_field(const JsonValue& object, const char* name) {
    const JsonValue* value = field(object, name);
    return value != nullptr && value->IsUint64() ? value->GetUint64() : 0;
}

bool flag_field(const JsonValue& object, const char* name) {
    const JsonValue* value = field(object, name);
    return value != nullptr && value->IsTrue();
}

const JsonValue* list_field(const JsonValue& object, const char* name) {
    const JsonValue* value = field(object, name);
    return value != nullptr && value->IsArray() ? value : nullptr;
}

void write(JsonWriter& writer, const char* name, std::string_view text) {
    writer.Key(name);
    writer.String(text.data() == nullptr ? "" : text.data(),
                  static_cast<rapidjson::SizeType>(text.size()));
}

void write(JsonWriter& writer, const char* name, uint64_t number) {
    writer.Key(name);
    writer.Uint64(number);
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
