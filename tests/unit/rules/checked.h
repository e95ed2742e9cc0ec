// An expression checked against a prototype, as text:
//
//   Checked(types, "cuMemAlloc_v2", "bytesize").kind()  ->  "unsigned 8 bytes at entry"
#pragma once

#include <array>
#include <string>
#include <vector>

#include "rules/check.h"
#include "rules/parse_text.h"
#include "rules/prototypes.h"

namespace mlbcc::test {

class Checked {
public:
    Checked(const Prototypes& types, const std::string& function, const std::string& expr,
            bool entry = false)
        : parsed_(rules::parse_rules("on cuda:f { count by" + std::string(kLine - 1, '\n') + expr +
                                     "\n}")) {
        rules::Scope scope{&types.table(), types.table().function(function),
                           &tables_,       &gauges_,
                           function,       function + "_v2",
                           entry};
        if (parsed_.diagnostics.has_errors() || parsed_.rules.rules.empty()) return;
        scope.lets = &parsed_.rules.rules.at(0).lets;
        const auto& clause = parsed_.rules.rules.at(0).clauses.at(0);
        const auto& by = std::get<rules::CountClause>(clause.node).kept.by;
        value_ = rules::check(*by.at(0).value, scope, parsed_.diagnostics);
    }
    static constexpr size_t kLine = 14;  // where the expression stands
    std::string messages() const { return parsed_.messages(); }
    const rules::TypedPtr& value() const { return value_; }

    // How it is shown, significant bytes, unit, and the end where it is known.
    std::string kind() const {
        if (!value_) return "mistake: " + messages();
        static constexpr std::array<const char*, 12> kShow{
            "signed",    "unsigned", "hex",      "boolean", "enumeration", "text",
            "character", "comm",     "function", "symbol",  "floating",    "list"};
        static constexpr std::array<const char*, 3> kUnit{"", " ns", " bytes"};
        return std::string(kShow.at(static_cast<size_t>(value_->show))) + " " +
               std::to_string(value_->size) + kUnit.at(static_cast<size_t>(value_->unit)) +
               (value_->stage == rules::Stage::entry ? " at entry" : " at return");
    }
    // The tree: its canonical text without how the outermost value is shown.
    std::string tree() const {
        if (!value_) return "mistake: " + messages();
        std::string text = rules::to_text(*value_);
        return text.substr(0, text.rfind(':'));
    }

private:
    rules::Parsed parsed_;
    std::vector<std::string> tables_{"kernel", "names"};
    std::vector<std::string> gauges_{"gpu_bytes"};
    rules::TypedPtr value_;
};

}  // namespace mlbcc::test
