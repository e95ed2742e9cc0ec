#include "symbols/mappings.h"

#include <algorithm>
#include <utility>

namespace mlbcc::symbols {

std::vector<CodeMapping> code_mappings(std::string_view text) {
    std::vector<CodeMapping> code;
    for (Mapping& mapping : parse_maps(text)) {
        if (mapping.executable) code.push_back({std::move(mapping)});
    }
    std::ranges::sort(code, {}, &CodeMapping::start);
    return code;
}

const CodeMapping* find_mapping(const std::vector<CodeMapping>& maps, uint64_t address) {
    auto after = std::ranges::upper_bound(maps, address, {}, &CodeMapping::start);
    if (after == maps.begin()) return nullptr;
    const CodeMapping& mapping = *std::prev(after);
    return address < mapping.end ? &mapping : nullptr;
}

CodeMapping* find_mapping(std::vector<CodeMapping>& maps, uint64_t address) {
    return const_cast<CodeMapping*>(find_mapping(std::as_const(maps), address));
}

}  // namespace mlbcc::symbols
