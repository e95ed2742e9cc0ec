#include "event/tables.h"

#include <iterator>
#include <utility>

namespace mlbcc::event {
namespace {

const plan::ValueType kBagType{plan::ValueType::Kind::text};

// A table's name that another table should have given, and has not: nothing is known here either.
bool is_unknown(const Value& value) {
    return value.unread || (!value.type->learnt_table.empty() && !value.learnt);
}

}  // namespace

Tables::Tables(const plan::Plan& plan, size_t max_entries) : max_entries_(max_entries) {
    add_tables(plan);
}

void Tables::add_tables(const plan::Plan& plan) {
    if (!table(rules::kFunctionAt))
        infos_.push_back({.name = rules::kFunctionAt, .is_of_functions = true});
    for (const plan::ProbePlan& probe : plan.probes) {
        if (probe.entry) add_tables(probe, *probe.entry);
        if (probe.ret) add_tables(probe, *probe.ret);
    }
}

void Tables::add_tables(const plan::ProbePlan& probe, const plan::RecordPlan& record) {
    for (const plan::Emit& emit : record.emits) {
        const auto* learn = std::get_if<plan::LearnEmit>(&emit.what);
        if (learn == nullptr) continue;
        if (!table(learn->table)) infos_.push_back({learn->table});
        Info& info = infos_[static_cast<uint32_t>(*table(learn->table))];
        info.until_known |= probe.until_known;
        using Kind = plan::ValueType::Kind;
        info.by_handle |= learn->key->type.kind == Kind::hex;
        info.by_handle |= learn->value && learn->value->type.kind == Kind::hex;
    }
}

void Tables::keep_types(Table& table, KeptTypes& types) {
    auto keep = [&](OwnedValue& value) { types.keep_of(value); };
    auto keep_entry = [&](LearntEntry& entry) {
        keep(entry.value);
        for (OwnedValue& hidden : entry.hidden) keep(hidden);
        if (entry.bag) entry.bag = entry.bag->with_types(keep);
    };
    for (auto& [key, entry] : table.keys) keep_entry(entry);
    for (auto& [key, range] : table.ranges) keep_entry(range.entry);
}

void Tables::change_plan(const plan::Plan& plan, KeptTypes& types) {
    std::vector<Info> before = std::exchange(infos_, {});
    add_tables(plan);
    entries_ = 0;
    for (auto& [pid, process] : processes_) {
        std::vector<Table> tables(infos_.size());
        for (size_t i = 0; i < process.tables.size(); ++i) {
            auto id = table(before[i].name);
            if (!id) continue;
            Table& kept = tables[static_cast<uint32_t>(*id)] = std::move(process.tables[i]);
            keep_types(kept, types);
            entries_ += kept.size();
        }
        process.tables = std::move(tables);
    }
}

std::optional<TableId> Tables::table(std::string_view name) const {
    for (size_t i = 0; i < infos_.size(); ++i) {
        if (infos_[i].name == name) return static_cast<TableId>(i);
    }
    return std::nullopt;
}

Tables::Process& Tables::process(uint32_t pid) {
    if (processes_.size() >= kMaxProcesses && !processes_.contains(pid)) make_room();
    Process& process = processes_[pid];
    process.tables.resize(infos_.size());
    return process;
}

bool Tables::apply(const Change& change) {
    using Op = rules::LearnOp;
    bool has_value = change.op != Op::pop && change.op != Op::forget;
    if (has_value && change.from == nullptr && is_unknown(change.value)) return false;
    Table& table = process(change.pid).tables[static_cast<uint32_t>(change.table)];
    if (change.op == Op::forget) {
        forget(table, change.key);
        return true;
    }
    if (change.op == Op::pop && !table.keys.contains(change.key)) return false;
    LearntEntry* entry = place(table, change);
    return entry != nullptr && change_entry(*entry, change);
}

// Where the change takes place, made if it is not there; null, and counted, if all is full.
LearntEntry* Tables::place(Table& table, const Change& change) {
    auto known = table.keys.find(change.key);
    if (!change.end && known != table.keys.end()) return &known->second;
    if (change.end) clear_range(table, change.key, *change.end);
    if (entries_ >= max_entries_) make_room();
    if (entries_ >= max_entries_) {
        ++refused_;
        return nullptr;
    }
    if (!change.end) {
        ++entries_;
        return &table.keys[change.key];
    }
    if (*change.end <= change.key) return nullptr;
    ++entries_;
    Range& range = table.ranges[change.key];
    range.end = *change.end;
    return &range.entry;
}

bool Tables::change_entry(LearntEntry& entry, const Change& change) {
    auto wanted = [&] {
        return change.from != nullptr ? change.from->value : OwnedValue(change.value);
    };
    switch (change.op) {
    case rules::LearnOp::set: {
        OwnedValue value = wanted();
        const bool is_new = entry.value.type == nullptr || entry.bag || change.from != nullptr ||
                            entry.value.bits != value.bits || entry.value.text != value.text;
        entry.bag = change.from != nullptr ? change.from->bag : nullptr;
        entry.value = std::move(value);
        return is_new;
    }
    case rules::LearnOp::plus: [[fallthrough]];
    case rules::LearnOp::minus: {
        uint64_t before = entry.value.bits;
        bool plus = change.op == rules::LearnOp::plus;
        entry.value = wanted();
        entry.value.bits = plus ? before + entry.value.bits : before - entry.value.bits;
        return true;
    }
    case rules::LearnOp::add: add_to_bag(entry, change); return true;
    case rules::LearnOp::push:
        if (entry.hidden.size() >= kMaxHidden) entry.hidden.erase(entry.hidden.begin());
        if (entry.value.type != nullptr) entry.hidden.push_back(std::move(entry.value));
        entry.value = wanted();
        return true;
    case rules::LearnOp::pop:
        entry.value = {};
        if (entry.hidden.empty()) return true;
        entry.value = std::move(entry.hidden.back());
        entry.hidden.pop_back();
        return true;
    case rules::LearnOp::forget: return false;
    }
    return false;
}

void Tables::add_to_bag(LearntEntry& entry, const Change& change) {
    auto bag = std::const_pointer_cast<Bag>(entry.bag);
    if (!bag || bag.use_count() > 2)
        bag = bag ? std::make_shared<Bag>(*bag) : std::make_shared<Bag>();
    entry.bag = bag;
    if (change.from == nullptr) {
        refused_ += bag->add(change.value) ? 0 : 1;
    } else if (change.each && change.from->bag) {
        std::shared_ptr<const Bag> other = change.from->bag;
        bag->add(*other);
    } else {
        refused_ += bag->add(change.from->value.value()) ? 0 : 1;
    }
}

void Tables::forget(Table& table, uint64_t key) {
    entries_ -= table.keys.erase(key);
    auto range = table.ranges.upper_bound(key);
    if (range == table.ranges.begin() || (--range)->second.end <= key) return;
    table.ranges.erase(range);
    --entries_;
}

// The later of two ranges that overlap is right: memory is given out again.
void Tables::clear_range(Table& table, uint64_t begin, uint64_t end) {
    auto at = table.ranges.lower_bound(begin);
    if (at != table.ranges.begin() && std::prev(at)->second.end > begin) --at;
    while (at != table.ranges.end() && at->first < end) {
        at = table.ranges.erase(at);
        --entries_;
    }
}

const LearntEntry* Tables::entry(TableId table, uint32_t pid, uint64_t key) const {
    if (infos_[static_cast<uint32_t>(table)].is_of_functions) return function_at(pid, key);
    const LearntEntry* found = known(table, pid, key);
    const bool could = found == nullptr && infos_[static_cast<uint32_t>(table)].until_known;
    if (could && !from_start(pid)) ++sought_;
    return found;
}

const LearntEntry* Tables::known(TableId table, uint32_t pid, uint64_t key) const {
    auto process = processes_.find(pid);
    if (process == processes_.end()) return nullptr;
    const Table& entries = process->second.tables[static_cast<uint32_t>(table)];
    auto found = entries.keys.find(key);
    const LearntEntry* entry = found == entries.keys.end() ? nullptr : &found->second;
    if (entry == nullptr && !entries.ranges.empty()) {
        auto range = entries.ranges.upper_bound(key);
        bool inside = range != entries.ranges.begin() && (--range)->second.end > key;
        if (inside) entry = &range->second.entry;
    }
    const bool has_any = entry != nullptr && (entry->bag || entry->value.type != nullptr);
    return has_any ? entry : nullptr;
}

// Asked for once: while the process is there.
const LearntEntry* Tables::function_at(uint32_t pid, uint64_t address) const {
    static const plan::ValueType kName{plan::ValueType::Kind::text};
    auto& [names, known] = functions_;
    auto found = known.find({pid, address});
    if (found == known.end()) {
        if (!names || known.size() >= max_entries_) return nullptr;
        LearntEntry entry;
        if (std::optional<std::string> name = names(pid, address))
            entry.value = OwnedValue(Value{&kName, address, *name, false, false});
        found = known.emplace(std::pair(pid, address), std::move(entry)).first;
    }
    return found->second.value.type == nullptr ? nullptr : &found->second;
}

std::optional<Value> Tables::find(TableId table, uint32_t pid, uint64_t key) const {
    const LearntEntry* entry = this->entry(table, pid, key);
    if (entry == nullptr) return std::nullopt;
    if (entry->bag) return Value{&kBagType, entry->bag->size(), entry->bag->text(), true, false};
    Value value = entry->value.value();
    if (value.learnt) value.bits = key;
    return value;
}

void Tables::forked(uint32_t parent, uint32_t child) {
    from_start_.erase(child);
    if (from_start_.contains(parent)) from_start_.insert(child);
    if (auto old = processes_.find(child); old != processes_.end()) {
        forget(old->second);
        processes_.erase(old);
    }
    auto found = processes_.find(parent);
    if (found == processes_.end()) return;
    size_t count = 0;
    for (const Table& table : found->second.tables) count += table.size();
    if (entries_ + count > max_entries_) {
        refused_ += count;
        return;
    }
    Process copy = found->second;
    processes_[child] = std::move(copy);
    entries_ += count;
}

void Tables::executed(uint32_t pid) {
    from_start_.insert(pid);
    functions_.known.erase(functions_.known.lower_bound({pid, 0}),
                           functions_.known.upper_bound({pid, UINT64_MAX}));
    auto found = processes_.find(pid);
    if (found == processes_.end()) return;
    for (size_t i = 0; i < infos_.size(); ++i) {
        if (!infos_[i].by_handle) continue;
        entries_ -= found->second.tables[i].size();
        found->second.tables[i] = {};
    }
}

void Tables::exited(uint32_t pid) {
    auto found = processes_.find(pid);
    if (found != processes_.end()) found->second.exited = true;
}

void Tables::forget(const Process& process) {
    for (const Table& table : process.tables) entries_ -= table.size();
}

// Drops the names of processes that have ended.
void Tables::make_room() {
    std::erase_if(processes_, [this](const auto& entry) {
        if (entry.second.exited) forget(entry.second);
        return entry.second.exited;
    });
}

}  // namespace mlbcc::event
