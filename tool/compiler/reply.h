// A request's JSON object read field by field, and the reply that goes back: a JSON text and the
// descriptors that belong to it.
//
//   {"request":"types", ...}  ->  {"ok":true, ...}
//                                 {"ok":false,"error":"what failed","log":"text of clang or
//                                 kernel"}
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::compiler {

using JsonValue = rapidjson::Value;
using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

struct Reply {
    std::string json;
    std::vector<UniqueFd> fds;
};

// An instruction as text (listing.h).
struct Listed {
    uint32_t instruction = 0;  // as the verifier counts them
    uint32_t line = 0;         // of the C; 0: not known
    std::string text;          // "r1 = *(u64 *)(r6 + 8)"
};

struct Failure {
    Error error;
    std::string stage;            // of a compilation: "compile" or "load"
    std::string program;          // the one that was refused
    std::string log;              // what clang or the kernel's verifier says
    std::vector<Listed> listing;  // of that program, where it is asked for
};
Reply failure(const Failure& failure);

// A field that is absent or of another type counts as empty, 0 or false.
std::string_view text_field(const JsonValue& object, const char* name);
std::vector<std::string> texts_field(const JsonValue& object, const char* name);
uint64_t number_field(const JsonValue& object, const char* name);
bool flag_field(const JsonValue& object, const char* name);
const JsonValue* list_field(const JsonValue& object, const char* name);  // null: absent

void write(JsonWriter& writer, const char* name, std::string_view text);
void write(JsonWriter& writer, const char* name, uint64_t number);
// "listing":[[0,12,"r6 = r1"],...]
void write_listing(JsonWriter& writer, const std::vector<Listed>& listing);
void write_ms(JsonWriter& writer, const char* name, double milliseconds);

}  // namespace mlbcc::compiler
