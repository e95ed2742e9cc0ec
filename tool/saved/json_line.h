// One line of a trace to the JSON object on it. The exact inverse of how the JSONL sink writes
// text: what was escaped byte by byte because it is not UTF-8 becomes those bytes again.
//
//   {"label":"a\u00ff"}  ->  "a\xff"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>

namespace mlbcc::saved {

struct ByteText : rapidjson::UTF8<char> {
    template <class Stream> static void Encode(Stream& out, unsigned codepoint) {
        if (codepoint > 0xff) return rapidjson::UTF8<char>::Encode(out, codepoint);
        out.Put(static_cast<char>(codepoint));
    }
    template <class Stream> static void EncodeUnsafe(Stream& out, unsigned codepoint) {
        Encode(out, codepoint);
    }
};

using Json = rapidjson::GenericValue<ByteText>;

class LineParser {
public:
    LineParser() : first_(kFirstBytes), allocator_(first_.data(), first_.size()) {}

    // Valid until the next call; nullptr if the line is not a JSON object.
    const Json* parse(std::string_view line);

private:
    static constexpr size_t kFirstBytes = 64 << 10;  // enough for the line of an event
    std::vector<char> first_;
    rapidjson::MemoryPoolAllocator<> allocator_;
    rapidjson::GenericDocument<ByteText> document_{&allocator_};
};

// A member of an object; where it is missing or of another type: 0, "", an empty list. Integers
// may stand as text, as those above 2^53 do.
uint64_t unsigned_of(const Json& object, const char* name);
int64_t signed_of(const Json& object, const char* name);
std::string_view text_of(const Json& object, const char* name);
std::vector<std::string> texts_of(const Json& object, const char* name);
double number_of(const Json& object, const char* name);
const Json* list_of(const Json& object, const char* name);  // nullptr for an empty list
bool has(const Json& object, const char* name);
bool is_true(const Json& object, const char* name);

// Seconds or microseconds, `factor` nanoseconds each, as nanoseconds; 0 if negative.
uint64_t nanoseconds_of(const Json& object, const char* name, double factor);

bool as_unsigned(const Json& value, uint64_t& out);
bool as_signed(const Json& value, int64_t& out);
std::string_view as_text(const Json& value);

// Back to JSON, in which text is written as the JSONL sink does. What lies deeper than any line of
// a trace does is null.
std::string json_text(const Json& value);

}  // namespace mlbcc::saved
