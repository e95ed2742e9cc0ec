// What `learn` has learnt: (table, process, key) -> names or numbers. A child has what its parent
// knew; an exec forgets what pointers and handles stand for, or are learnt, and keeps what is known
// by and of numbers (files stay open). After a process's end its names stay, for what is printed at
// the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "event/bag.h"
#include "event/event.h"
#include "event/kept_types.h"
#include "plan/plan.h"

namespace mlbcc::event {

enum class TableId : uint32_t {};

// What is known under one key: a value, with those that it hides; or many of one rank.
struct LearntEntry {
    OwnedValue value;
    std::vector<OwnedValue> hidden;
    std::shared_ptr<const Bag> bag;  // not null: these; entries share it until one changes
};

class Tables {
public:
    static constexpr size_t kMaxEntries = 1 << 18;  // over all tables and processes
    static constexpr size_t kMaxProcesses = 1 << 16;
    static constexpr size_t kMaxHidden = 256;  // under one key

    explicit Tables(const plan::Plan& plan, size_t max_entries = kMaxEntries);

    // What function of a process begins at an address, nullopt where none does: rules ask for it as
    // for a table that knows them all.
    using FunctionNames = std::function<std::optional<std::string>(uint32_t pid, uint64_t address)>;
    void ask_functions_of(FunctionNames names) { functions_.names = std::move(names); }

    // Other rules, which go on with the tables that they have, too: by name. What of the values is
    // the old plan's goes to `types`.
    void change_plan(const plan::Plan& plan, KeptTypes& types);

    // Nullopt for a name that no rule learns.
    std::optional<TableId> table(std::string_view name) const;

    struct Change {
        TableId table{};
        rules::LearnOp op{};
        uint32_t pid = 0;
        uint64_t key = 0;
        std::optional<uint64_t> end;  // of a range of keys
        Value value;                  // unread: nothing is learnt
        // In place of `value`: what another entry holds; `each`: every value of it.
        const LearntEntry* from = nullptr;
        bool each = false;
    };
    // Whether something is known now that was not, or was another.
    bool apply(const Change& change);
    void learn(TableId table, uint32_t pid, uint64_t key, const Value& value) {
        apply({table, rules::LearnOp::set, pid, key, std::nullopt, value});
    }

    // Under the key, or the range that it lies in; null where nothing was learnt. Lives until the
    // next change.
    const LearntEntry* entry(TableId table, uint32_t pid, uint64_t key) const;
    // The same as the value it is shown by; nullopt where nothing was.
    std::optional<Value> find(TableId table, uint32_t pid, uint64_t key) const;

    void forked(uint32_t parent, uint32_t child);
    void executed(uint32_t pid);
    void exited(uint32_t pid);

    // Look-ups that found nothing, of what a probe that is in place `until_known` could have
    // learnt.
    uint64_t sought() const { return sought_; }

    // Whether the program that the process runs was seen to begin: what it learnt is all known.
    bool from_start(uint32_t pid) const { return from_start_.contains(pid); }

    size_t size() const { return entries_; }
    uint64_t refused() const { return refused_; }  // not learnt: all was full

private:
    struct Range {
        uint64_t end = 0;
        LearntEntry entry;
    };
    struct Table {
        std::unordered_map<uint64_t, LearntEntry> keys;
        std::map<uint64_t, Range> ranges;  // by beginning; none overlap
        size_t size() const { return keys.size() + ranges.size(); }
    };
    struct Process {
        std::vector<Table> tables;  // by TableId
        bool exited = false;
    };
    struct Info {
        std::string name;
        bool by_handle = false;    // its keys or values mean nothing after an exec
        bool until_known = false;  // learnt by probes that are so
        bool is_of_functions = false;
    };

    void add_tables(const plan::Plan& plan);
    void add_tables(const plan::ProbePlan& probe, const plan::RecordPlan& record);
    static void keep_types(Table& table, KeptTypes& types);
    void make_room();
    void forget(const Process& process);
    void forget(Table& table, uint64_t key);
    void clear_range(Table& table, uint64_t begin, uint64_t end);
    LearntEntry* place(Table& table, const Change& change);
    bool change_entry(LearntEntry& entry, const Change& change);
    void add_to_bag(LearntEntry& entry, const Change& change);
    Process& process(uint32_t pid);
    const LearntEntry* known(TableId table, uint32_t pid, uint64_t key) const;
    const LearntEntry* function_at(uint32_t pid, uint64_t address) const;

    std::vector<Info> infos_;
    std::unordered_map<uint32_t, Process> processes_;  // by pid
    std::unordered_set<uint32_t> from_start_;          // pids
    size_t max_entries_, entries_ = 0;
    uint64_t refused_ = 0;
    mutable uint64_t sought_ = 0;
    struct Functions {
        FunctionNames names;
        // By process and address, also those that are none; of a program until it is replaced.
        std::map<std::pair<uint32_t, uint64_t>, LearntEntry> known;
    };
    mutable Functions functions_;
};

}  // namespace mlbcc::event
