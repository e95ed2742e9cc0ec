// Which rules apply to a call: what a shape decides at its beginning, and at its end.
#include "codegen/shape.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace mlbcc::codegen {
namespace {

// By a condition's canonical text, its bit in the C variable `shared`.
using Shared = std::map<std::string, uint64_t>;

// Needs what the program has at hand: no memory, no text.
bool is_cheap(const rules::Typed& value) {
    return !rules::any_part(value, [](const rules::Typed& part) {
        return !std::holds_alternative<rules::ParamLeaf>(part.node) &&
               !std::holds_alternative<rules::BuiltinLeaf>(part.node) &&
               !std::holds_alternative<rules::ConstLeaf>(part.node) &&
               !std::holds_alternative<rules::UnaryNode>(part.node) &&
               !std::holds_alternative<rules::BinaryNode>(part.node);
    });
}

// Each of many by itself would take 8 bytes of the stack until the last rule is decided.
Shared decide_in_one_word(CodeWriter& w, const std::vector<rules::TypedPtr>& conditions) {
    Shared shared;
    w.line("u64 shared = 0;");
    for (const rules::TypedPtr& condition : conditions) {
        const uint64_t bit = uint64_t{1} << shared.size();
        w.open_block();
        w.place(condition->span);
        w.line(fmt::format("if ({}) shared |= {:#x};", w.condition(*condition), bit));
        w.close_block();
        shared.emplace(rules::to_text(*condition), bit);
    }
    w.line("MLBCC_SEEN(shared);");
    return shared;
}

// A condition that several rules have is decided once, before all of them.
Shared decide_shared(CodeWriter& w, const plan::ProbePlan& probe) {
    constexpr size_t kMostApart = 4, kMostBits = 63;
    std::map<std::string, int> uses;
    std::vector<rules::TypedPtr> cheap;
    for (const plan::RulePart& part : probe.parts) {
        for (const rules::TypedPtr& condition : part.entry_where) {
            if (++uses[rules::to_text(*condition)] != 2) continue;
            if (is_cheap(*condition) && cheap.size() < kMostBits)
                cheap.push_back(condition);
            else
                w.condition(*condition);
        }
    }
    if (cheap.size() > kMostApart) return decide_in_one_word(w, cheap);
    for (const rules::TypedPtr& condition : cheap) w.condition(*condition);
    return {};
}

}  // namespace

bool ShapeWriter::hits_constant() const {
    return std::none_of(probe_.parts.begin(), probe_.parts.end(),
                        [](const plan::RulePart& part) { return part.conditional(); });
}

// Which rules apply to this call, as far as that is known at its beginning.
void ShapeWriter::decide(CodeWriter& w) {
    if (hits_constant()) {
        w.line("u32 hits = ~0u;");  // however many they are
        return;
    }
    w.line("u32 hits = 0;");
    const Shared shared = decide_shared(w, probe_);
    for (size_t i = 0; i < probe_.parts.size(); ++i) {
        const plan::RulePart& part = probe_.parts[i];
        w.part({plan_.rules[static_cast<uint32_t>(part.rule)].head}, probe_.parts.size() > 1);
        w.open_block();
        std::string all = part.traced_only ? "mlbcc_is_traced(&call)" : "1";
        uint64_t bits = 0;
        for (const rules::TypedPtr& condition : part.entry_where) {
            if (auto bit = shared.find(rules::to_text(*condition)); bit != shared.end()) {
                bits |= bit->second;
                continue;
            }
            w.place(condition->span);
            all += " && " + w.condition(*condition);
        }
        if (bits != 0) all += fmt::format(" && (shared & {0:#x}) == {0:#x}", bits);
        w.line(fmt::format("int wanted = {};", all));
        if (part.sample > 1) sample(w, part);
        w.line(fmt::format("if (wanted) hits |= {};", 1u << i));
        w.close_block();
    }
    w.part(heads(), false);
    w.line(fmt::format("if (!hits) return {};", let_go()));
}

void ShapeWriter::sample(CodeWriter& w, const plan::RulePart& part) {
    w.open_block("if (wanted) {");
    w.line(fmt::format("u32 slot = {};", static_cast<uint32_t>(part.rule)));
    w.line("u64 *seen = samples.lookup(&slot);");
    w.line(fmt::format("wanted = seen && (*seen)++ % {} == 0;", part.sample));
    w.close_block();
}

// What the call returned is asked first: other conditions may read memory.
void ShapeWriter::decide_at_end(CodeWriter& w) {
    w.line("struct accounts *all = call.all;");
    const bool asks = std::ranges::any_of(
        probe_.parts, [](const plan::RulePart& part) { return !part.return_where.empty(); });
    if (asks) {
        w.line(fmt::format("u32 ended = {};", probe_.return_parts()));
        decide_by_end(w, "ended");
        w.line("if (!ended) return 0;");
    }
    decide(w);
    if (asks) w.line("hits &= ended;");
}

void ShapeWriter::decide_by_end(CodeWriter& w, std::string_view hits) {
    bool decided = false;
    for (size_t i = 0; i < probe_.parts.size(); ++i) {
        for (const rules::TypedPtr& condition : probe_.parts[i].return_where) {
            w.open_block();
            w.place(condition->span);
            w.line(fmt::format("if (!{}) {} &= ~{}u;", w.condition(*condition), hits, 1u << i));
            w.close_block();
            decided = true;
        }
    }
    if (decided && probe_.parts.size() > 1) w.line(fmt::format("MLBCC_FORGET({});", hits));
}

}  // namespace mlbcc::codegen
