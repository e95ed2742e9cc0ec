#include "load/verifier_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace mlbcc::load {
namespace {

// What stands around the reason: statistics and states.
constexpr std::array<std::string_view, 9> kOther{"processed ", "verification time ", "stack depth ",
                                                 "max_states", "total_states",       "insns ",
                                                 "cur state:", "old state:",         "from "};
constexpr std::string_view kNamed = "insn ";
// Stands behind the instruction where its line had not ended yet.
constexpr std::string_view kLoop = "infinite loop detected at insn ";

std::optional<uint32_t> number_at(std::string_view text) {
    uint32_t number = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc()) return std::nullopt;
    return number;
}

// "12: (61) r1 = ..." -> 12
std::optional<uint32_t> instruction_of(std::string_view line) {
    size_t colon = line.find(": (");
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    bool digits = line.substr(0, colon).find_first_not_of("0123456789") == std::string_view::npos;
    bool code = line.size() > colon + 5 && line[colon + 5] == ')';
    return digits && code ? number_at(line) : std::nullopt;
}

// "infinite loop detected at insn 5" -> 5
std::optional<uint32_t> instruction_in(std::string_view reason) {
    size_t at = reason.rfind(kNamed);
    return at == std::string_view::npos ? std::nullopt
                                        : number_at(reason.substr(at + kNamed.size()));
}

// "106: R0=scalar() R1=ctx()", too
bool is_other(std::string_view line) {
    return (line[0] >= '0' && line[0] <= '9') ||
           std::ranges::any_of(kOther, [&](std::string_view one) { return line.starts_with(one); });
}

}  // namespace

VerifierLog read_verifier_log(std::string_view log) {
    VerifierLog read;
    while (!log.empty()) {
        std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        if (line.empty()) continue;
        if (auto instruction = instruction_of(line)) {
            const size_t loop = std::min(line.find(kLoop), line.size());
            read.steps.push_back({*instruction, line.substr(0, loop)});
            read.reason = line.substr(loop);
        } else if (!is_other(line)) {
            read.reason = line;
        }
    }
    if (!read.steps.empty()) read.culprit = read.steps.back().instruction;
    if (auto named = instruction_in(read.reason)) read.culprit = *named;
    return read;
}

}  // namespace mlbcc::load
