#include "profile/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "phases/file_group.h"
#include "phases/gpu_calls.h"
#include "sink/format.h"
#include "text/terminal_text.h"

namespace mlbcc::profile {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kLongestMark = 24;

// Counts of a process begin anew with another program in it.
uint64_t more(uint64_t now, uint64_t before) {
    return now >= before ? now - before : 0;
}

}  // namespace

void Progress::add(const saved::EventFields& one) {
    if (one.type == "file") return add_file(one);
    if (one.type == "process") return add_process(one);
    if (phases::GpuCalls::is_one(one)) return add_gpu(one);
    if (one.type != "phase" || one.name != "mark") return;
    std::string_view text = one.text("text");
    if (one.has("bytes")) text = text.substr(0, one.natural("bytes"));
    text = text.substr(0, text.find('\n'));
    if (!text.empty()) mark_ = sink::shortened(on_terminal(text), kLongestMark);
}

void Progress::add_file(const saved::EventFields& one) {
    if (!one.has("inode")) return;
    const phases::FileKey id = phases::FileKey::of(one);
    if (one.name == "open" && phases::group_of(one.text("path")) == phases::FileGroup::weights)
        weights_.insert(id);
    if ((one.name == "read" || one.name == "map") && weights_.contains(id)) {
        weights_ns_ = one.time_ns + one.duration_ns;
    }
}

void Progress::add_gpu(const saved::EventFields& one) {
    if (!gpu_ns_) gpu_ns_ = one.time_ns;
    uint64_t end_ns = one.time_ns + one.duration_ns;
    if (one.type == "gpu_load") gpu_load_ns_ = end_ns;
    if (one.type != "gpu_load" && one.type != "gpu_start") gpu_work_ns_ = end_ns;
}

void Progress::add_process(const saved::EventFields& one) {
    if (saved::ends_process(one)) processes_.erase(one.pid);
    if (one.name != "memory") return;
    Process& process = processes_[one.pid];
    Process now{one.natural("resident"), one.natural("read_chars"), one.natural("written_chars")};
    read_ += more(now.read, process.read);
    written_ += more(now.written, process.written);
    process = now;
}

std::string Progress::phase(uint64_t now_ns) const {
    if (!mark_.empty()) return mark_;
    if (!weights_ns_ && gpu_ns_) {
        bool loads = gpu_load_ns_ && now_ns < *gpu_load_ns_ + kSecond;
        return gpu_work_ns_ && !loads ? "works on the GPU" : "first run on the GPU";
    }
    if (!weights_ns_) return "no weights yet";
    return now_ns < *weights_ns_ + kSecond ? "loading" : "inference";
}

std::string Progress::text(uint64_t now_ns) {
    return fmt::format("{} s  {}", now_ns / kSecond, facts(now_ns));
}

std::string Progress::facts(uint64_t now_ns) {
    if (now_ns >= rates_.time_ns + kSecond) {
        double seconds = static_cast<double>(now_ns - rates_.time_ns) / kSecond;
        rates_ = {now_ns, read_, written_, static_cast<double>(read_ - rates_.read) / seconds,
                  static_cast<double>(written_ - rates_.written) / seconds};
    }
    uint64_t held = 0;
    for (const auto& [pid, process] : processes_) held += process.resident;
    return fmt::format("{}  holds {}  reads {}/s  writes {}/s", phase(now_ns),
                       sink::short_bytes(held),
                       sink::short_bytes(static_cast<uint64_t>(rates_.reads)),
                       sink::short_bytes(static_cast<uint64_t>(rates_.writes)));
}

}  // namespace mlbcc::profile
