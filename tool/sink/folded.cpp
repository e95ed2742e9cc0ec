#include "sink/folded.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sink/buffer.h"
#include "sink/frames.h"
#include "sink/output_file.h"
#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

constexpr size_t kEntryBytes = 96;  // of a hash table, besides its key; an estimate
constexpr size_t kMaxOpenSpans = 1 << 20;

// "libc.so.6:write+0x1f" in its parts; those that are not there are empty.
struct FrameParts {
    std::string_view module, symbol, offset;
};

FrameParts parts_of(std::string_view frame) {
    FrameParts parts;
    size_t plus = frame.rfind("+0x");
    bool has_offset = plus != std::string_view::npos && plus + 3 < frame.size() &&
                      frame.find_first_not_of("0123456789abcdef", plus + 3) == frame.npos;
    if (has_offset) {
        parts.offset = frame.substr(plus + 1);
        frame = frame.substr(0, plus);
    }
    size_t bracket = frame.starts_with('[') ? frame.find(']') : 0;  // [anon:v8]
    size_t colon = frame.find(':', std::min(bracket, frame.size()));
    bool has_both = colon != std::string_view::npos;
    (has_both || has_offset ? parts.module : parts.symbol) = frame.substr(0, colon);
    if (has_both) parts.symbol = frame.substr(colon + 1);
    return parts;
}

bool is_of_kernel(const FrameParts& parts) {
    return parts.module == "[kernel]" || parts.module.starts_with("[kernel:");
}

// What distinguishes the frame in a flame graph: calls from one function are one frame.
std::string_view key_of(std::string_view frame) {
    FrameParts parts = parts_of(frame);
    if (parts.symbol.empty()) return frame;
    if (!is_of_kernel(parts)) return parts.symbol;
    return {parts.module.data(), parts.module.size() + 1 + parts.symbol.size()};
}

// ';' parts frames and a newline ends the stack. "f 12" at the end of a stack would be a weight.
std::string cleaned(std::string name) {
    for (char& c : name) {
        if (c == ';') c = ':';
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '_';
    }
    size_t digits = name.find_last_not_of("0123456789.") + 1;
    if (digits > 0 && name[digits - 1] == ' ') name[digits - 1] = '_';
    return name.empty() ? "?" : name;
}

}  // namespace

// flamegraph.pl shows what ends in `_[k]` as the kernel's, as stackcollapse-perf.pl has it.
std::string folded_name(std::string_view frame) {
    FrameParts parts = parts_of(frame);
    std::string_view mark = is_of_kernel(parts) ? "_[k]" : "";
    if (!parts.symbol.empty()) return cleaned(fmt::format("{}{}", parts.symbol, mark));
    if (parts.module.empty()) return cleaned(std::string(frame));
    bool in_brackets = parts.module.starts_with('[') && parts.module.ends_with(']');
    return cleaned(in_brackets ? fmt::format("{} {}{}", parts.offset, parts.module, mark)
                               : fmt::format("{} [{}]", parts.offset, parts.module));
}

size_t FoldedStacks::NamesHash::operator()(const Names& names) const {
    uint64_t hash = 0x9e3779b97f4a7c15;
    for (NameId name : names) {
        hash = (hash ^ name) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    return hash;
}

bool FoldedStacks::take_room(size_t bytes) {
    if (max_bytes_ - bytes_ < bytes) return false;
    bytes_ += bytes;
    return true;
}

bool FoldedStacks::add_name(std::string_view key, std::optional<std::string_view> frame) {
    auto found = name_ids_.find(key);
    if (found == name_ids_.end()) {
        if (!take_room(2 * (key.size() + kEntryBytes))) return false;
        found = name_ids_.emplace(key, static_cast<NameId>(names_.size())).first;
        names_.push_back(frame ? folded_name(*frame) : cleaned(std::string(key)));
    }
    wanted_.push_back(found->second);
    return true;
}

std::optional<FoldedStacks::Id> FoldedStacks::id_of(std::string_view comm,
                                                    std::span<const std::string_view> frames,
                                                    std::string_view function) {
    wanted_.clear();
    bool good = add_name(comm);
    for (size_t i = frames.size(); i-- > 0 && good;) {
        good = add_name(key_of(frames[i]), frames[i]);
    }
    if (!good || (!function.empty() && !add_name(function))) return std::nullopt;
    if (auto found = stack_ids_.find(wanted_); found != stack_ids_.end()) return found->second;
    if (!take_room(wanted_.size() * sizeof(NameId) + kEntryBytes)) return std::nullopt;
    auto id = static_cast<Id>(stacks_.size());
    stacks_.push_back({&stack_ids_.emplace(wanted_, id).first->first});
    return id;
}

std::vector<FoldedStacks::Id> FoldedStacks::in_order() const {
    std::vector<Id> order(stacks_.size());
    std::iota(order.begin(), order.end(), Id{0});
    std::ranges::sort(order, [this](Id a, Id b) {
        auto less = [this](NameId x, NameId y) { return names_[x] < names_[y]; };
        return std::ranges::lexicographical_compare(*stacks_[a].names, *stacks_[b].names, less);
    });
    return order;
}

void FoldedStacks::each_line(const TakeLine& take) const {
    std::string text;
    for (Id id : in_order()) {
        text.clear();
        for (NameId name : *stacks_[id].names) {
            if (!text.empty()) text += ';';
            text += names_[name];
        }
        take(text, stacks_[id].weight);
    }
}

namespace {

class Folded : public Sink {
public:
    Folded(OutputFile file, FoldedBy by, TellNote note)
        : file_(std::move(file)), by_(by), note_(std::move(note)) {}

    void event(const event::Event& event) override;
    Result<void> finish(const TraceEnd& end, uint64_t event_id) override;

private:
    void add(std::optional<FoldedStacks::Id> stack, uint64_t weight);
    void opens(uint64_t event_id, std::optional<FoldedStacks::Id> stack);
    void add_counts(const std::vector<Stat>& stats);
    Result<void> write();
    void tell_notes() const;

    OutputFile file_;
    FoldedBy by_;
    TellNote note_;
    FoldedStacks stacks_;
    // The stack of a span is that of its B, which has no duration yet.
    std::unordered_map<uint64_t, std::optional<FoldedStacks::Id>> open_;  // by event id
    uint64_t other_ = 0;  // weight of what found no room
    bool forgot_ = false;
};

void Folded::add(std::optional<FoldedStacks::Id> stack, uint64_t weight) {
    stack ? stacks_.add(*stack, weight) : void(other_ += weight);
}

void Folded::opens(uint64_t event_id, std::optional<FoldedStacks::Id> stack) {
    if (open_.size() >= kMaxOpenSpans) {  // of calls that never return
        open_.clear();
        forgot_ = true;
    }
    open_[event_id] = stack;
}

void Folded::event(const event::Event& event) {
    if (event.phase == event::Phase::end) {
        auto begun = event.begin ? open_.find(*event.begin) : open_.end();
        if (begun == open_.end()) return;
        add(begun->second, event.duration_ns);
        open_.erase(begun);
        return;
    }
    bool has_weight = by_ == FoldedBy::events || event.phase != event::Phase::instant;
    if (event.stack.empty() || !has_weight) return;
    auto stack = stacks_.id_of(event.comm, event.stack, event.probe->symbol);
    if (by_ == FoldedBy::events) return add(stack, 1);
    if (event.phase == event::Phase::begin) return opens(event.id, stack);
    add(stack, event.duration_ns);
}

// Microseconds are summed up from nanoseconds: many short calls are a long time.
Result<void> Folded::write() {
    Buffer out(2 * kWriteAt);
    Result<void> result;
    auto write_out = [&] {
        if (result.ok() && out.size() > 0) result = file_.write(out.view());
        out.clear();
    };
    auto take = [&](std::string_view stack, uint64_t weight) {
        if (by_ == FoldedBy::duration) weight = (weight + 500) / 1000;
        if (weight == 0) return;
        out.append(stack);
        out.append(' ');
        out.number(weight);
        out.append('\n');
        if (out.size() >= kWriteAt) write_out();
    };
    stacks_.each_line(take);
    take(kOtherStacks, other_);
    write_out();
    return result;
}

void Folded::tell_notes() const {
    if (forgot_) note_("too many calls were open at a time: the time of some is missing");
    if (other_ > 0) {
        note_(fmt::format("only {} stacks fit; the others are counted as `{}`", stacks_.size(),
                          kOtherStacks));
    } else if (stacks_.size() == 0) {
        note_(by_ == FoldedBy::events ? "no event has a stack: rules take them with `stack user`"
                                      : "no event has both a stack (`stack user`) and a duration");
    }
}

// What the first clause counted by stack, of rules without events: its label stands outermost.
void Folded::add_counts(const std::vector<Stat>& stats) {
    const Stat* first = nullptr;
    for (const Stat& one : stats) {
        if (by_ == FoldedBy::duration && one.unit != rules::Unit::nanoseconds) continue;
        for (const auto& [name, value] : one.by) {
            const std::vector<std::string> frames = frames_of(value);
            const auto weight = as_double(one.value, one.is_signed);
            if (frames.empty() || weight <= 0) continue;
            if (first == nullptr) first = &one;
            if (one.rule != first->rule || one.label != first->label) continue;
            const std::vector<std::string_view> views(frames.begin(), frames.end());
            add(stacks_.id_of(one.label, views, ""), one.value);
        }
    }
}

Result<void> Folded::finish(const TraceEnd& end, uint64_t) {
    if (stacks_.size() == 0 && other_ == 0) add_counts(end.metrics.stats);
    tell_notes();
    return write();
}

}  // namespace

Result<std::unique_ptr<Sink>> open_folded(const std::string& path, FoldedBy by, TellNote note) {
    Result<OutputFile> file = OutputFile::open(path, "--folded FILE");
    if (!file) return file.error();
    return std::unique_ptr<Sink>(std::make_unique<Folded>(std::move(*file), by, std::move(note)));
}

}  // namespace mlbcc::sink
