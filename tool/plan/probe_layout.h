// Where values stand once all rules have said what they want of a probe: in its records, and in the
// frame that lives from entry to return.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace mlbcc::plan {

class ProbeLayout {
public:
    using Report = std::function<void(const Diagnostics& found)>;

    ProbeLayout(ProbePlan& probe, Arch arch, Report report)
        : probe_(probe), arch_(arch), report_(std::move(report)) {}

    void save_for_return();  // values kept from entry to return
    void lay_out();          // both records, as they are then
    void find_text_words();  // arguments that point to texts

private:
    void save(const rules::TypedPtr& value);
    void save_argument(uint32_t param);
    void check_values(size_t count, const std::vector<Span>& spans);
    void lay_out(RecordPlan& record, bool is_return);
    std::optional<uint32_t> argument_word(const rules::Typed& value) const;
    void place_words(RecordPlan& record, uint32_t offset);
    void take_as_words(RecordPlan& record) const;
    void add_text_words(const rules::Typed& value);

    ProbePlan& probe_;
    Arch arch_;
    Report report_;
};

}  // namespace mlbcc::plan
