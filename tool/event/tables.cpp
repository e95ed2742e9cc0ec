#include "event/tables.h"

namespace mlbcc::event {

Tables::Tables(const plan::Plan& plan, size_t max_entries) : max_entries_(max_entries) {
    for (const plan::ProbePlan& probe : plan.probes) {
        if (probe.entry) add_tables(*probe.entry);
        if (probe.ret) add_tables(*probe.ret);
    }
}

void Tables::add_tables(const plan::RecordPlan& record) {
    for (const plan::Emit& emit : record.emits) {
        const auto* learn = std::get_if<plan::LearnEmit>(&emit.what);
        if (learn == nullptr) continue;
        if (!table(learn->table)) infos_.push_back({learn->table, false});
        Info& info = infos_[static_cast<uint32_t>(*table(learn->table))];
        const plan::ValueType& key = record.layout.fields[learn->key].type;
        info.by_handle |= key.kind == plan::ValueType::Kind::hex;
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

void Tables::learn(TableId table, uint32_t pid, uint64_t key, const Value& value) {
    // A name that another table should have given, and has not: nothing is known here either.
    bool unknown = !value.type->learnt_table.empty() && !value.learnt;
    if (value.unread || unknown) return;
    if (entries_ >= max_entries_) make_room();
    Table& entries = process(pid).tables[static_cast<uint32_t>(table)];
    auto found = entries.find(key);
    if (found == entries.end()) {
        if (entries_ >= max_entries_) {
            ++refused_;
            return;
        }
        found = entries.try_emplace(key).first;
        ++entries_;
    }
    Learnt& learnt = found->second;
    learnt.type = value.type;
    learnt.bits = value.bits;
    learnt.text = value.text;
    learnt.is_text =
        value.learnt || value.type->kind == plan::ValueType::Kind::text || !value.text.empty();
}

std::optional<Value> Tables::find(TableId table, uint32_t pid, uint64_t key) const {
    auto process = processes_.find(pid);
    if (process == processes_.end()) return std::nullopt;
    const Table& entries = process->second.tables[static_cast<uint32_t>(table)];
    auto found = entries.find(key);
    if (found == entries.end()) return std::nullopt;
    const Learnt& learnt = found->second;
    if (learnt.is_text) return Value{learnt.type, key, learnt.text, true, false};
    return Value{learnt.type, learnt.bits, {}, false, false};
}

void Tables::forked(uint32_t parent, uint32_t child) {
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
    auto found = processes_.find(pid);
    if (found == processes_.end()) return;
    for (size_t i = 0; i < infos_.size(); ++i) {
        if (!infos_[i].by_handle) continue;
        entries_ -= found->second.tables[i].size();
        found->second.tables[i].clear();
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
