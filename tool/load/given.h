// Functions that programs get by address (`trace ADDRESS as NAME`). Each address is compared with
// where the probes are; what lies elsewhere in the library is probed at once:
//
//   look_at()    a record, as the ring gives it
//   probe_new()  what the records since the last time said; the plan may grow
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "event/record.h"
#include "load/frontend.h"
#include "load/loader.h"
#include "plan/plan.h"
#include "process/proc.h"
#include "sink/sink.h"

namespace mlbcc::load {

class GivenFunctions {
public:
    // Both must outlive it.
    GivenFunctions(Frontend& frontend, Loaded& loaded) : frontend_(frontend), loaded_(loaded) {}

    void look_at(std::span<const std::byte> bytes);
    bool has_new() const { return !new_.empty(); }
    std::vector<std::string> probe_new();  // notes for the user
    // What another set of rules found elsewhere, programs go on calling.
    void join(const GivenFunctions& other);
    std::vector<sink::GivenAddresses> totals() const;

private:
    struct Clause {  // a `trace` of one record
        uint32_t mask = 0;
        bool at_return = false;
        const plan::RecordSlot* address = nullptr;
        const plan::RecordSlot* name = nullptr;
    };
    struct Answer {
        plan::ProbeId giver{};
        uint32_t pid = 0;
        uint64_t address = 0;
        std::string name;
    };
    struct Library {
        std::set<uint64_t> known;  // where its functions begin: offsets in the file
        sink::GivenAddresses totals;
    };
    using Maps = std::map<uint32_t, std::vector<Mapping>>;  // by process

    void find_clauses();
    void add_answer(const event::Record& record, const Clause& clause);
    Library& library_of(const Answer& answer);
    bool is_of(const Mapping& mapping, const target::UserFunction& giver) const;
    void add(const Answer& answer, Maps& maps, std::vector<std::string>& notes);
    bool is_function(const Answer& answer, Library& library, uint64_t offset);
    const plan::ProbePlan* highest_form(const Answer& answer) const;
    Result<void> probe(const plan::ProbePlan& form, uint64_t offset, std::string path);

    Frontend& frontend_;
    Loaded& loaded_;
    std::vector<std::vector<Clause>> clauses_;      // by ProbeId
    std::set<std::pair<uint32_t, uint64_t>> seen_;  // process and address
    std::vector<Answer> new_, elsewhere_;
    std::map<std::string, Library> libraries_;  // by path
};

}  // namespace mlbcc::load
