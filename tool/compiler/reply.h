// The reply to a request: a JSON text and the descriptors that belong to it.
//
//   {"request":"types", ...}  ->  {"ok":true, ...}
//                                 {"ok":false,"error":"what failed","log":"text of clang or
//                                 kernel"}
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "text/json.h"

namespace mlbcc::compiler {

using JsonValue = json::Value;
using JsonWriter = json::Writer;
using json::write;

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

// "listing":[[0,12,"r6 = r1"],...]
void write_listing(JsonWriter& writer, const std::vector<Listed>& listing);
double ms_since(std::chrono::steady_clock::time_point start);
void write_ms(JsonWriter& writer, const char* name, double milliseconds);

}  // namespace mlbcc::compiler
