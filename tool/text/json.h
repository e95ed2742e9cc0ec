// JSON objects that mlbcc and mlbcc-bcc send each other, read and written field by field. A field
// that is absent or of another type counts as empty, 0 or false.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlbcc::json {

using Value = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

inline const Value* field(const Value& object, const char* name) {
    if (!object.IsObject()) return nullptr;
    auto member = object.FindMember(name);
    return member == object.MemberEnd() ? nullptr : &member->value;
}

inline std::string text_of(const Value& object, const char* name) {
    const Value* value = field(object, name);
    if (value == nullptr || !value->IsString()) return {};
    return {value->GetString(), value->GetStringLength()};
}

inline uint64_t number_of(const Value& object, const char* name) {
    const Value* value = field(object, name);
    return value != nullptr && value->IsUint64() ? value->GetUint64() : 0;
}

inline uint32_t u32_of(const Value& object, const char* name) {
    return static_cast<uint32_t>(number_of(object, name));
}

inline double real_of(const Value& object, const char* name) {
    const Value* value = field(object, name);
    return value != nullptr && value->IsNumber() ? value->GetDouble() : 0;
}

inline bool flag_of(const Value& object, const char* name) {
    const Value* value = field(object, name);
    return value != nullptr && value->IsTrue();
}

inline bool is_list(const Value& object, const char* name) {
    const Value* value = field(object, name);
    return value != nullptr && value->IsArray();
}

inline std::vector<const Value*> list_of(const Value& object, const char* name) {
    std::vector<const Value*> list;
    if (!is_list(object, name)) return list;
    for (const Value& element : field(object, name)->GetArray()) list.push_back(&element);
    return list;
}

inline std::vector<std::string> texts_of(const Value& object, const char* name) {
    std::vector<std::string> texts;
    for (const Value* one : list_of(object, name)) {
        if (one->IsString()) texts.emplace_back(one->GetString(), one->GetStringLength());
    }
    return texts;
}

inline void write(Writer& writer, const char* name, std::string_view text) {
    writer.Key(name);
    writer.String(text.data() == nullptr ? "" : text.data(),
                  static_cast<rapidjson::SizeType>(text.size()));
}

inline void write(Writer& writer, const char* name, uint64_t number) {
    writer.Key(name);
    writer.Uint64(number);
}

}  // namespace mlbcc::json
