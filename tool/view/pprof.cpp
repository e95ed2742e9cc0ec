// Stacks with the calls that were made from them and the time that those took, as pprof has them:
// `go tool pprof`, Pyroscope, Parca, speedscope.
#include "pprof.pb.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sink/folded.h"
#include "view/output.h"
#include "view/values.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

constexpr size_t kMostStacks = size_t{1} << 20;  // of more, all others are one

class Pprof : public ViewWriter {
public:
    explicit Pprof(sink::OutputFile file) : output_(std::move(file)) {
        text("");
        value_type("calls", "count");
        value_type("time", "nanoseconds");
    }

    void slice(const Slice& slice) override {
        if (slice.call->same != nullptr) return;  // a call is counted once
        const DrawnEvent& last = slice.end != nullptr ? *slice.end : *slice.call;
        const bool has_time = last.has_duration && slice.missing != Missing::still_open;
        add(slice, has_time ? slice.end_ns - slice.begin_ns : 0);
    }
    void instant(const DrawnEvent& record) override {
        if (record.same == nullptr && !is_counter(record)) add(moment_of(record), 0);
    }
    void lost(const saved::LostEvents& /*lost*/) override {}
    bool failed() const override { return false; }  // nothing is written before the end
    Result<void> finish(const Ending& ending) override;

private:
    // A thread's program, and locations, innermost first.
    using Stack = std::pair<int64_t, std::vector<uint64_t>>;
    struct Sum {
        uint64_t calls = 0, time_ns = 0;
    };

    void add(const Slice& slice, uint64_t time_ns);
    int64_t text(std::string_view text);
    void value_type(std::string_view type, std::string_view unit);
    uint64_t location(const std::string& name);

    Output output_;
    perftools::profiles::Profile profile_;
    std::unordered_map<std::string, int64_t> texts_;
    std::unordered_map<std::string, uint64_t> locations_;
    std::map<Stack, Sum> stacks_;
};

int64_t Pprof::text(std::string_view text) {
    const auto [found, is_new] =
        texts_.try_emplace(std::string(text), profile_.string_table_size());
    if (is_new) profile_.add_string_table(found->first);
    return found->second;
}

void Pprof::value_type(std::string_view type, std::string_view unit) {
    auto& added = *profile_.add_sample_type();
    added.set_type(text(type));
    added.set_unit(text(unit));
}

// A name is one function, and has one place: addresses say nothing to who reads them elsewhere.
uint64_t Pprof::location(const std::string& name) {
    const auto [found, is_new] = locations_.try_emplace(name, locations_.size() + 1);
    if (is_new) {
        auto& function = *profile_.add_function();
        function.set_id(found->second);
        function.set_name(text(name));
        auto& location = *profile_.add_location();
        location.set_id(found->second);
        location.add_line()->set_function_id(found->second);
    }
    return found->second;
}

void Pprof::add(const Slice& slice, uint64_t time_ns) {
    const DrawnEvent& call = *slice.call;
    Stack stack{text(call.comm), {location(sink::folded_name(call.traced()))}};
    for (std::string_view frame : stack_of(slice))
        stack.second.push_back(location(sink::folded_name(frame)));
    if (stacks_.size() >= kMostStacks && !stacks_.contains(stack))
        stack.second = {location(std::string(sink::kOtherStacks))};
    Sum& sum = stacks_[std::move(stack)];
    sum.calls += call.sample;
    sum.time_ns += time_ns * call.sample;
}

Result<void> Pprof::finish(const Ending& ending) {
    profile_.set_duration_nanos(static_cast<int64_t>(ending.time_ns));
    const int64_t comm = text("comm");
    for (const auto& [stack, sum] : stacks_) {
        auto& sample = *profile_.add_sample();
        sample.mutable_location_id()->Add(stack.second.begin(), stack.second.end());
        sample.add_value(static_cast<int64_t>(sum.calls));
        sample.add_value(static_cast<int64_t>(sum.time_ns));
        auto& label = *sample.add_label();
        label.set_key(comm);
        label.set_str(stack.first);
    }
    output_.text().append(profile_.SerializeAsString());
    return output_.finish();
}

}  // namespace

Opened open_pprof(const std::string& path) {
    Result<sink::OutputFile> file = sink::OutputFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ViewWriter>(std::make_unique<Pprof>(std::move(*file)));
}

}  // namespace mlbcc::view
