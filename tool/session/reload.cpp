#include "session/reload.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/file_cache.h"
#include "event/record.h"
#include "session/views.h"
#include "text/tell.h"

namespace mlbcc::session {
namespace {

constexpr uint64_t kLookNs = 200'000'000;

struct Held {
    uint32_t cpu = 0, size = 0;
};

}  // namespace

// ---- the files

void WatchedFiles::watch(const std::vector<files::Sources::Source>& files, bool keep) {
    if (!keep) files_.clear();
    for (const files::Sources::Source& file : files) {
        auto known = std::ranges::find(files_, file.path, &File::path);
        if (known == files_.end())
            files_.push_back({file.path, file.state, file.state});
        else
            known->known = file.state;
    }
}

// An editor may write in several steps, and leave nothing there for a moment.
std::optional<std::string> WatchedFiles::changed(uint64_t now_ns) {
    if (now_ns < next_ns_) return std::nullopt;
    next_ns_ = now_ns + kLookNs;
    std::optional<std::string> name;
    bool settled = true;
    for (File& file : files_) {
        std::string state = file_state(file.path);
        if (state != file.known && !name) name = file.path;
        settled &= state == file.seen && (state == file.known || !state.empty());
        file.seen = std::move(state);
    }
    if (!name || !settled) return std::nullopt;
    for (File& file : files_) file.known = file.seen;
    return name;
}

// ---- the rules

bool Reloader::is_wanted(uint64_t now_ns) {
    if (auto changed = files_.changed(now_ns)) asked_ = *changed + " changed";
    return !asked_.empty();
}

void Reloader::begin(std::vector<int> pids, OnRecord on_record) {
    why_ = std::exchange(asked_, {});
    preparing_ = worker_.start([this, pids = std::move(pids), on_record = std::move(on_record)] {
        return prepare(pids, on_record);
    });
}

Reloader::Outcome Reloader::prepare(const std::vector<int>& pids, const OnRecord& on_record) {
    Outcome made{std::make_unique<Generation>(options_, threads_, steps_), {}};
    auto views = views_of(options_.targets, pids);
    Result<void> done = views ? made.generation->plan(std::move(*views)) : views.error();
    if (done && !made.generation->frontend.diagnostics.has_errors())
        done = load(*made.generation, on_record);
    if (!done) made.error = done.error();
    return made;
}

Result<void> Reloader::load(Generation& made, const OnRecord& on_record) {
    if (auto done = made.begin_loading(); !done) return done;
    made.on_record = [on_record, &made](uint32_t cpu, std::span<const std::byte> one) {
        on_record(made, cpu, one);
    };
    if (auto done = made.attach(); !done) return done;
    return made.finish_loading();
}

std::optional<Prepared> Reloader::take() {
    using std::chrono::seconds;
    if (!preparing_.valid() || preparing_.wait_for(seconds(0)) != std::future_status::ready)
        return std::nullopt;
    Outcome outcome = preparing_.get();
    load::Frontend& frontend = outcome.generation->frontend;
    const bool mistakes = tell(frontend.diagnostics, options_.verbosity);
    if (outcome.error) tell(*outcome.error);
    const bool good = !mistakes && !outcome.error;
    files_.watch(frontend.sources.watched(), !good);
    if (good) return Prepared{std::move(outcome.generation), why_};
    tell_note(options_.verbosity, why_ + ": the rules stay as they were");
    return Prepared{nullptr, why_};
}

// ---- records

void HeldRecords::add(uint32_t cpu, std::span<const std::byte> record) {
    const Held head{cpu, static_cast<uint32_t>(record.size())};
    const auto* from = reinterpret_cast<const std::byte*>(&head);
    bytes_.insert(bytes_.end(), from, from + sizeof head);
    bytes_.insert(bytes_.end(), record.begin(), record.end());
}

void HeldRecords::give(
    const std::function<void(uint32_t cpu, std::span<const std::byte> record)>& take) {
    const std::vector<std::byte> all = std::exchange(bytes_, {});
    std::span<const std::byte> rest = all;
    while (!rest.empty()) {
        Held head;
        std::memcpy(&head, rest.data(), sizeof head);
        take(head.cpu, rest.subspan(sizeof head, head.size));
        rest = rest.subspan(sizeof head + head.size);
    }
}

bool RulesChange::tells_of_process(std::span<const std::byte> record, bool since) const {
    if (record.size() < sizeof(plan::RecordHeader)) return false;
    const event::Record one(record);
    return one.kind() == plan::RecordKind::process && (one.header.time_ns >= since_ns) == since;
}

}  // namespace mlbcc::session
