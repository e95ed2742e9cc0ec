#include "codegen/template.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::codegen {
namespace {

// Whether the lines behind it are no longer as far from the template's first as they are there.
bool put(Source& out, const Slot& slot) {
    if (const auto* lines = std::get_if<const Source*>(&slot)) {
        out.append(**lines);
        return true;
    }
    const auto text = std::get<std::string_view>(slot);
    out.append(text);
    return text.find('\n') != text.npos;
}

}  // namespace

Result<Source> fill(const Templates& templates, std::string_view name, Slots slots) {
    auto found = templates.find(name);
    if (found == templates.end()) {
        return Error{fmt::format("the template {} is missing", name), 0,
                     "check --templates, or install mlbcc again"};
    }
    std::string_view text = found->second;
    Source out;
    Origin origin{{}, std::string(name), 0};
    out.from(origin, false);
    out.append(fmt::format("#line 1 \"probe_templates/{}\"\n", name));
    origin.template_line = 1;
    while (true) {
        size_t open = text.find("{{");
        size_t close = open == text.npos ? text.npos : text.find("}}", open);
        std::string_view before = text.substr(0, close == text.npos ? text.npos : open);
        out.append(before);
        origin.template_line += static_cast<uint32_t>(std::ranges::count(before, '\n'));
        if (close == text.npos) return out;
        std::string_view slot = text.substr(open + 2, close - open - 2);
        const Slot* value = nullptr;
        for (const auto& [key, content] : slots) {
            if (key == slot) value = &content;
        }
        if (value == nullptr) {
            return Error{fmt::format("the template {} has an unknown slot {{{{{}}}}}", name, slot)};
        }
        if (put(out, *value)) out.from(origin, false);
        text.remove_prefix(close + 2);
    }
}

}  // namespace mlbcc::codegen
