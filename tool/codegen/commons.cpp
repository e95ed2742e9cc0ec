#include "codegen/commons.h"

#include <string_view>

#include <fmt/format.h>

namespace mlbcc::codegen {
namespace {

constexpr uint32_t kFirstCommon = 0x7fff0100;
constexpr std::string_view kBegin = "\nMLBCC_COMMON u64 common_", kEnd = "(struct call *call) {";

}  // namespace

std::string declare_commons(const std::string& source, size_t from, bool linked,
                            std::map<uint32_t, std::string>& numbers) {
    std::string out = linked ? "#define MLBCC_COMMON\n#define MLBCC_UNSET\nstruct call;\n"
                             : "#define MLBCC_COMMON static __always_inline\n"
                               "#define MLBCC_UNSET = {}\n";
    uint32_t number = kFirstCommon;
    size_t at = from;
    while ((at = source.find(kBegin, at)) != std::string::npos) {
        at += kBegin.size();
        const size_t end = source.find(kEnd, at);
        if (end == std::string::npos) break;
        const std::string name = source.substr(at, end - at);
        if (!linked) {
            out += fmt::format("#define mlbcc_{0} common_{0}\n", name);
            continue;
        }
        out += fmt::format("static u64 (*mlbcc_{})(struct call *call) = (void *){:#x};\n", name,
                           number);
        numbers.emplace(number++, "common_" + name);
    }
    return out;
}

}  // namespace mlbcc::codegen
