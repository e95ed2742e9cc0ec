#include "load/probe_places.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "codegen/codegen.h"
#include "elf/elf_stubs.h"

namespace mlbcc::load {
namespace {

// A function's own code is looked at for the place of its probe; of a longer one its beginning.
constexpr uint64_t kMaxFunction = 64U << 10;
// For its ends, all of it; of one that another jumps to and whose size is not known, so much, and
// more of the few that go on behind that.
constexpr uint64_t kMaxWhole = 4U << 20, kMaxReached = 8U << 10, kMaxLong = 64U << 10;
constexpr size_t kMostLong = 1024;  // of those
constexpr size_t kMaxJumps = 16;    // to functions that jump to others in their turn
constexpr size_t kMostSharers = 8;  // functions that jump to one, each with probes of its own there

using Code = std::vector<std::byte>;
using codegen::Role;

bool has(const Code& code, size_t at, std::initializer_list<int> bytes) {
    if (at + bytes.size() > code.size()) return false;
    return std::equal(bytes.begin(), bytes.end(), code.begin() + static_cast<ptrdiff_t>(at),
                      [](int a, std::byte b) { return a == std::to_integer<int>(b); });
}

// The jump behind Go's question whether the stack has room: `cmp 16(%r14), %rsp` (or %r12, which is
// below it by the function's frame) and `jbe`; on arm64 `ldr x16, [x28, #16]` up to `b.ls`.
std::optional<uint64_t> stack_check_x86(const Code& code) {
    constexpr size_t kWithin = 40;
    for (size_t i = 0; i < std::min(kWithin, code.size()); ++i) {
        if (!has(code, i, {0x49, 0x3b, 0x66, 0x10}) && !has(code, i, {0x4d, 0x3b, 0x66, 0x10}))
            continue;
        if (has(code, i + 4, {0x76}) || has(code, i + 4, {0x0f, 0x86})) return i + 4;
    }
    return std::nullopt;
}
std::optional<uint64_t> stack_check_arm(const Code& code) {
    constexpr size_t kWithin = 8;  // instructions
    bool asked = false;
    for (size_t i = 0; i < kWithin && 4 * i + 4 <= code.size(); ++i) {
        uint32_t word = 0;
        std::memcpy(&word, &code[4 * i], sizeof word);
        if (word == 0xf9400b90) asked = true;
        if (asked && (word & 0xff00001f) == 0x54000009) return 4 * i;
    }
    return std::nullopt;
}

class PlaceChooser {
public:
    PlaceChooser(const plan::Plan& plan, bool exact, target::Host& from,
                 bpf::RememberingCompiler& compiler, std::vector<EntryPlace>& places)
        : plan_(plan), exact_(exact), from_(from), compiler_(compiler), places_(places) {}

    Result<void> run(size_t first) {
        if (auto done = read(first); !done) return done;
        auto choices = ask(codes_);
        if (!choices) return choices.error();
        for (size_t i = 0; i < probes_.size() && i < choices->size(); ++i)
            take(*probes_[i], codes_[i], (*choices)[i]);
        return follow_jumps();
    }

private:
    struct Next {  // a jump to another place in the file
        bpf::Site::End from;
        uint64_t to = 0;
        bool conditional = false;
    };
    struct Open {  // a function whose ends are not all known
        EntryPlace* place = nullptr;
        std::string path;
        uint64_t offset = 0, size = 0;  // its own
        bool is_of_go = false, needs_outcome = false;
        std::vector<Next> next{};
        std::set<uint64_t> seen{};

        bool is_own(uint64_t place_in_file) const { return place_in_file - offset < size; }
    };
    struct Reached {  // what begins at such a place
        bool is_function = false;
        bpf::EntryChoice choice{};
    };
    using Place = std::pair<std::string, uint64_t>;
    struct CodeToAsk {
        Code code;
        uint64_t size = 0;
        bool ends = false;
    };

    static const target::UserFunction& function_of(const plan::ProbePlan& probe) {
        return std::get<target::UserFunction>(probe.probe->at);
    }

    Result<void> read(size_t first) {
        for (size_t i = first; i < plan_.probes.size(); ++i) {
            const plan::ProbePlan& probe = plan_.probes[i];
            if (probe.kind != plan::ProbeKind::function) continue;
            const target::UserFunction& where = function_of(probe);
            const bool moving = codegen::side_of(probe) == codegen::Side::moving;
            if (where.path.empty() || (exact_ && !moving)) continue;  // it is only expected
            const uint64_t most = moving ? kMaxWhole : kMaxFunction;
            const uint64_t size = moving && where.size == 0 ? kMaxReached : where.size;
            Result<Code> code = from_.read(where.path, where.offset, std::min(size, most));
            if (!code) return code.error();
            codes_.push_back({std::move(*code), where.size, moving});
            probes_.push_back(&probe);
        }
        return {};
    }

    Result<std::vector<bpf::EntryChoice>> ask(const std::vector<CodeToAsk>& codes) {
        if (codes.empty()) return std::vector<bpf::EntryChoice>();
        std::vector<bpf::FunctionCode> request;
        for (const CodeToAsk& one : codes) request.push_back({one.code, one.size, one.ends});
        return compiler_.entries(from_.architecture(), request);
    }

    void take(const plan::ProbePlan& probe, const CodeToAsk& code, bpf::EntryChoice& choice) {
        EntryPlace& place = places_[static_cast<uint32_t>(probe.id)];
        if (!exact_) place = {choice.offset, choice.why, choice.refused, choice.stepped};
        if (!code.ends) return;
        if (probe.is_of_go()) begin_behind_check(code.code, place);
        const target::UserFunction& function = function_of(probe);
        Open open{&place,        function.path,    function.offset,
                  function.size, probe.is_of_go(), codegen::asks_for_outcome(probe)};
        add(open, function.offset, choice.ends, Role::returns);
        open_.push_back(std::move(open));
    }

    void begin_behind_check(const Code& code, EntryPlace& place) const {
        const bool x86 = plan_.arch == plan::Arch::x86_64;
        const auto at = x86 ? stack_check_x86(code) : stack_check_arm(code);
        if (!at) return;
        place = {*at,
                 "+" + std::to_string(*at) + ", where Go asks for room on the stack: emulated"};
        place.role = codegen::kChecksStack;
    }

    static void refuse(Open& open, const std::string& why) {
        if (open.place->no_end.empty()) open.place->no_end = why;
    }
    // Where a call is taken to end though another function returns for it.
    static void leave(Open& open, bpf::Site::End from, const std::string& why) {
        if (open.needs_outcome) return refuse(open, why);
        if (open.place->leaves.empty()) open.place->leaves = why;
        open.place->ends.push_back(from);
    }

    // Of the code at `offset`: its own, or what it has jumped to.
    static void add(Open& open, uint64_t offset, const bpf::CodeEnds& ends, Role returns) {
        if (!ends.unknown.empty()) refuse(open, ends.unknown);
        for (const uint64_t one : ends.returns) open.place->ends.push_back({offset + one, returns});
        for (const uint64_t one : ends.pointers)
            leave(open, {offset + one, returns}, ends.pointer + " goes where is not known");
        for (const bpf::CodeJump& one : ends.jumps) {
            const uint64_t to = offset + static_cast<uint64_t>(one.to);
            if (open.is_own(to)) continue;  // back, from a part of its own elsewhere
            const Role role = one.condition ? codegen::jumps_if(*one.condition) : Role::jumps;
            open.next.push_back({{offset + one.at, role}, to, one.condition.has_value()});
        }
    }

    // Another call may begin there in the place of one that was left by an exception: which of them
    // returns is known by the jump, and by what comes between. A goroutine begins a call twice
    // where its stack grows.
    static void follow(Open& open, const Next& jump, const Reached& reached) {
        const bpf::EntryChoice& choice = reached.choice;
        const bool is_new = open.seen.insert(jump.to).second;
        if (open.is_of_go) {
            if (is_new) add(open, jump.to, choice.ends, Role::returns);
            return;
        }
        open.place->ends.push_back(jump.from);
        if (!is_new) return;
        if (choice.refused) refuse(open, "it jumps to where no probe may be");
        open.place->ends.push_back(
            {jump.to + choice.offset, reached.is_function ? Role::arrives : Role::arrives_inside});
        add(open, jump.to, choice.ends, Role::returns_elsewhere);
    }

    // A function that jumps to another one returns where that one does, also by way of a stub. Not
    // to one that only jumps on through a pointer, as all calls of other libraries do; nor to one
    // that many jump to, for each of them would have probes there.
    void go_on(Open& open, const Next& jump, const Reached& reached, size_t sharers) {
        const bpf::CodeEnds& ends = reached.choice.ends;
        const bool passes_on = ends.returns.empty() && ends.jumps.empty() && !ends.pointers.empty();
        const auto behind = passes_on ? stubs_.behind(open.path, jump.to) : std::nullopt;
        if (behind) {
            open.next.push_back({jump.from, *behind, jump.conditional});
            return;
        }
        const bool is_dear = sharers > kMostSharers && !open.needs_outcome;
        if (jump.conditional || open.is_of_go || !(passes_on || is_dear))
            return follow(open, jump, reached);
        const bool own = open.is_own(jump.from.offset);
        leave(open, {jump.from.offset, own ? Role::returns : Role::returns_elsewhere},
              passes_on ? ends.pointer + " goes where is not known"
                        : "it jumps where many functions do");
    }

    Result<void> follow_jumps() {
        for (size_t i = 0; i < kMaxJumps; ++i) {
            if (auto done = look_at_next(); !done) return done;
            bool any = false;
            for (Open& one : open_) {
                for (const Next& jump : std::exchange(one.next, {})) {
                    const Place to{one.path, jump.to};
                    go_on(one, jump, known_.at(to), sharers_[to].size());
                }
                any = any || !one.next.empty();
            }
            if (!any) break;
        }
        for (Open& one : open_) finish(one);
        return {};
    }

    static void finish(Open& one) {
        EntryPlace& place = *one.place;
        std::ranges::sort(place.ends, {}, [](const bpf::Site::End& end) {
            return std::pair(end.offset, end.role);
        });
        place.ends.erase(std::unique(place.ends.begin(), place.ends.end()), place.ends.end());
        if (place.no_end.empty() && !one.next.empty())
            place.no_end = "it jumps from function to function";
        if (!place.no_end.empty()) place.leaves.clear();
    }

    Result<void> look_at_next() {
        std::vector<Place> places;
        std::vector<CodeToAsk> codes;
        for (const Open& one : open_) {
            for (const Next& jump : one.next) {
                const Place place{one.path, jump.to};
                sharers_[place].insert(&one);
                if (!known_.try_emplace(place).second) continue;
                const uint64_t size = size_of(place);
                Result<Code> code =
                    from_.read(place.first, jump.to, size == 0 ? kMaxReached : size);
                if (!code) return code.error();
                codes.push_back({std::move(*code), size, true});
                places.push_back(place);
            }
        }
        if (auto done = learn(places, codes); !done) return done;
        std::vector<Place> longer;
        std::vector<CodeToAsk> their_code;
        for (size_t i = 0; i < places.size(); ++i) {
            const bool was_cut = codes[i].size == 0 && codes[i].code.size() == kMaxReached;
            if (!was_cut || known_[places[i]].choice.ends.unknown.empty()) continue;
            if (longer.size() == kMostLong) break;
            Result<Code> code = from_.read(places[i].first, places[i].second, kMaxLong);
            if (!code) return code.error();
            longer.push_back(places[i]);
            their_code.push_back({std::move(*code), 0, true});
        }
        return learn(longer, their_code);
    }

    Result<void> learn(const std::vector<Place>& places, const std::vector<CodeToAsk>& codes) {
        auto choices = ask(codes);
        if (!choices) return choices.error();
        for (size_t i = 0; i < places.size() && i < choices->size(); ++i)
            known_[places[i]] = {codes[i].size != 0, std::move((*choices)[i])};
        return {};
    }

    // Of the function that begins there; 0: not known.
    uint64_t size_of(const Place& place) {
        auto [found, is_new] = sizes_.try_emplace(place.first);
        if (is_new) {
            Result<target::Symbols> symbols = from_.symbols(place.first);
            if (symbols) {
                for (const target::Symbol& one : symbols->functions)
                    found->second[one.offset] = std::max(found->second[one.offset], one.size);
            }
        }
        const auto size = found->second.find(place.second);
        return size == found->second.end() || size->second > kMaxWhole ? 0 : size->second;
    }

    const plan::Plan& plan_;
    const bool exact_;
    target::Host& from_;
    bpf::RememberingCompiler& compiler_;
    std::vector<EntryPlace>& places_;
    std::vector<CodeToAsk> codes_;
    std::vector<const plan::ProbePlan*> probes_;
    std::vector<Open> open_;
    elf::Stubs stubs_;
    std::map<Place, Reached> known_;
    std::map<Place, std::set<const Open*>> sharers_;  // that jump there
    std::map<std::string, std::map<uint64_t, uint64_t>> sizes_;
};

}  // namespace

Result<void> choose_places(const plan::Plan& plan, size_t first, bool exact, target::Host& from,
                           bpf::RememberingCompiler& compiler, std::vector<EntryPlace>& places) {
    places.resize(plan.probes.size(), {.why = "+0, as asked"});
    return PlaceChooser(plan, exact, from, compiler, places).run(first);
}

}  // namespace mlbcc::load
