#include "codegen/template.h"

#include <fmt/format.h>

namespace mlbcc::codegen {

Result<std::string> fill(const Templates& templates, std::string_view name, Slots slots) {
    auto found = templates.find(name);
    if (found == templates.end()) {
        return Error{fmt::format("the template {} is missing", name), 0,
                     "check --templates, or install mlbcc again"};
    }
    std::string_view text = found->second;
    std::string out = fmt::format("#line 1 \"probe_templates/{}\"\n", name);
    while (true) {
        size_t open = text.find("{{");
        size_t close = open == text.npos ? text.npos : text.find("}}", open);
        out += text.substr(0, close == text.npos ? text.npos : open);
        if (close == text.npos) return out;
        std::string_view slot = text.substr(open + 2, close - open - 2);
        const std::string_view* value = nullptr;
        for (const auto& [key, content] : slots) {
            if (key == slot) value = &content;
        }
        if (value == nullptr) {
            return Error{fmt::format("the template {} has an unknown slot {{{{{}}}}}", name, slot)};
        }
        out += *value;
        text.remove_prefix(close + 2);
    }
}

}  // namespace mlbcc::codegen
