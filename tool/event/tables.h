// What `learn` has learnt: (table, process, key) -> a name or a number. A child has what its parent
// knew; an exec forgets what stood under pointers and handles, and keeps what stood under numbers
// (files stay open). After a process's end its names stay, for what is printed at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "plan/plan.h"

namespace mlbcc::event {

enum class TableId : uint32_t {};

class Tables {
public:
    static constexpr size_t kMaxEntries = 1 << 18;  // over all tables and processes
    static constexpr size_t kMaxProcesses = 1 << 16;

    explicit Tables(const plan::Plan& plan, size_t max_entries = kMaxEntries);

    // Nullopt for a name that no rule learns.
    std::optional<TableId> table(std::string_view name) const;

    void learn(TableId table, uint32_t pid, uint64_t key, const Value& value);
    // What was learnt, as the value it is shown by; nullopt where nothing was. Its text lives until
    // the next call that is not find().
    std::optional<Value> find(TableId table, uint32_t pid, uint64_t key) const;

    void forked(uint32_t parent, uint32_t child);
    void executed(uint32_t pid);
    void exited(uint32_t pid);

    size_t size() const { return entries_; }
    uint64_t refused() const { return refused_; }  // not learnt: all was full

private:
    struct Learnt {
        const plan::ValueType* type = nullptr;
        uint64_t bits = 0;
        std::string text;
        bool is_text = false;
    };
    using Table = std::unordered_map<uint64_t, Learnt>;
    struct Process {
        std::vector<Table> tables;  // by TableId
        bool exited = false;
    };
    struct Info {
        std::string name;
        bool by_handle = false;  // its keys mean nothing after an exec
    };

    void add_tables(const plan::RecordPlan& record);
    void make_room();
    void forget(const Process& process);
    Process& process(uint32_t pid);

    std::vector<Info> infos_;
    std::unordered_map<uint32_t, Process> processes_;  // by pid
    size_t max_entries_, entries_ = 0;
    uint64_t refused_ = 0;
};

}  // namespace mlbcc::event
