// The types of values that outlive the plan they were read by: one of each kind.
#pragma once

#include <algorithm>
#include <deque>

#include "event/bag.h"
#include "plan/plan.h"

namespace mlbcc::event {

class KeptTypes {
public:
    // Its names of constants are left behind: values that have one have it as their text.
    const plan::ValueType* keep(const plan::ValueType* type) {
        if (type == nullptr) return nullptr;
        plan::ValueType wanted = *type;
        wanted.enum_type.reset();
        auto known = std::ranges::find(types_, wanted);
        return known != types_.end() ? &*known : &types_.emplace_back(std::move(wanted));
    }
    void keep_of(OwnedValue& value) { value.type = keep(value.type); }

private:
    std::deque<plan::ValueType> types_;
};

}  // namespace mlbcc::event
