// Fields of a JSON object: what is absent or of another type counts as empty, 0 or false.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mlbcc::bpf {

inline const rapidjson::Value* field(const rapidjson::Value& object, const char* name) {
    if (!object.IsObject()) return nullptr;
    auto member = object.FindMember(name);
    return member == object.MemberEnd() ? nullptr : &member->value;
}

inline std::string text_of(const rapidjson::Value& object, const char* name) {
    const rapidjson::Value* value = field(object, name);
    if (value == nullptr || !value->IsString()) return {};
    return {value->GetString(), value->GetStringLength()};
}

inline uint64_t number_of(const rapidjson::Value& object, const char* name) {
    const rapidjson::Value* value = field(object, name);
    return value != nullptr && value->IsUint64() ? value->GetUint64() : 0;
}

inline uint32_t u32_of(const rapidjson::Value& object, const char* name) {
    return static_cast<uint32_t>(number_of(object, name));
}

inline double real_of(const rapidjson::Value& object, const char* name) {
    const rapidjson::Value* value = field(object, name);
    return value != nullptr && value->IsNumber() ? value->GetDouble() : 0;
}

inline bool flag_of(const rapidjson::Value& object, const char* name) {
    const rapidjson::Value* value = field(object, name);
    return value != nullptr && value->IsTrue();
}

inline std::vector<const rapidjson::Value*> list_of(const rapidjson::Value& object,
                                                    const char* name) {
    std::vector<const rapidjson::Value*> list;
    const rapidjson::Value* value = field(object, name);
    if (value == nullptr || !value->IsArray()) return list;
    for (const rapidjson::Value& element : value->GetArray()) list.push_back(&element);
    return list;
}

}  // namespace mlbcc::bpf
