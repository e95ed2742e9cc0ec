#include "session/follow.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "process/clock.h"
#include "process/proc.h"

namespace mlbcc::session {
namespace {

uint32_t pid_of(const std::vector<std::byte>& key) {
    uint32_t pid = 0;
    std::memcpy(&pid, key.data(), sizeof pid);
    return pid;
}

}  // namespace

Result<void> Follower::add(int pid) {
    roots_.push_back(pid);
    if (everyone_) return {};
    codegen::Process process{};
    process.pid = static_cast<uint32_t>(pid);
    process.ppid = static_cast<uint32_t>(process::parent_of(pid).value_or(0));
    Result<std::vector<int>> threads = process::threads_of(pid);
    if (!threads) return threads.error();
    process.threads = static_cast<int32_t>(threads->size());
    auto key = static_cast<uint32_t>(pid);
    // In a pid namespace our ids are not the kernel's: processes are adopted by ours.
    bpf::Map* map = loaded_.map(codegen::maps::kSeeds);
    if (map == nullptr) map = loaded_.map(codegen::maps::kTraced);
    MLBCC_CHECK(map != nullptr);
    if (auto done = suspect(key); !done) return done;
    if (auto done = map->update(&key, &process); !done) {
        return system_error(fmt::format("cannot trace process {}", pid));
    }
    return {};
}

Result<std::vector<int>> Follower::add_all(const std::vector<int>& pids,
                                           const std::function<void(int)>& look) {
    std::vector<int> ended;
    for (int pid : pids) {
        look(pid);
        if (auto done = add(pid); !done) {
            ended.push_back(pid);
            if (ended.size() == pids.size() || process::is_alive(pid)) return done.error();
            continue;
        }
        for (int child : process::descendants_of(pid)) {
            (void)add(child);  // one that ended meanwhile needs no tracing
        }
        look(pid);
    }
    return ended;
}

Result<void> Follower::set(uint32_t what, uint32_t value) {
    bpf::Map* control = loaded_.map(codegen::maps::kControl);
    MLBCC_CHECK(control != nullptr);
    return control->update(&what, &value);
}

Result<void> Follower::arm() {
    armed_ns_ = process::monotonic_ns();
    if (auto done = set(codegen::kFunctions, codegen::Control::take); !done) return done;
    return set(codegen::kOthers, codegen::Control::take);
}
void Follower::disarm() {
    (void)set(codegen::kFunctions, codegen::Control::pass);
    (void)set(codegen::kOthers, codegen::Control::pass);
}

// A child whose parent was copied too late is found in the other's map: until there is none.
Result<void> Follower::join(const Follower& other) {
    roots_ = other.roots_;
    children_ = other.children_;
    ending_ = other.ending_;
    if (everyone_) return {};
    size_t added = 1;
    while (added > 0) {
        added = 0;
        for (const char* map : {codegen::maps::kSeeds, codegen::maps::kTraced}) {
            if (auto done = join(other, map, added); !done) return done;
        }
    }
    return {};
}

Result<void> Follower::join(const Follower& other, const char* map, size_t& added) {
    bpf::Map* mine = loaded_.map(map);
    const bpf::Map* theirs = other.loaded_.map(map);
    if (mine == nullptr || theirs == nullptr) return {};
    for (const std::vector<std::byte>& key : theirs->keys()) {
        auto process = theirs->lookup(key.data());
        if (!process || mine->lookup(key.data())) continue;
        if (auto done = suspect(pid_of(key)); !done) return done;
        if (auto done = mine->update(key.data(), process->data()); !done) return done;
        ++added;
    }
    return {};
}

// In a pid namespace their numbers are not ours to ask for.
void Follower::forget_ended() {
    bpf::Map* traced = loaded_.map(codegen::maps::kTraced);
    if (everyone_ || traced == nullptr || loaded_.map(codegen::maps::kSeeds) != nullptr) return;
    for (const std::vector<std::byte>& key : traced->keys()) {
        if (!process::is_alive(static_cast<int>(pid_of(key)))) traced->erase(key.data());
    }
}

Result<void> Follower::suspect(uint32_t pid) {
    bpf::Map* suspects = loaded_.map(codegen::maps::kSuspects);
    MLBCC_CHECK(suspects != nullptr);
    const uint32_t last_bits = pid & 4095;
    const uint8_t yes = 1;
    return suspects->update(&last_bits, &yes);
}

void Follower::look_at(const event::Record& record) {
    if (everyone_) return;
    if (record.header.probe != static_cast<uint32_t>(plan::ProcessChange::exit_thread)) return;
    const plan::ProcessRecord process = record.process();
    bool known = std::any_of(ending_.begin(), ending_.end(), [&](const Ending& ending) {
        return ending.kernel_pid == process.other;
    });
    if (!known) ending_.push_back({record.header.pid, process.other});
}

// An exit is told before the process is gone, and a thread's exit looks the same: asked again until
// it is clear.
void Follower::clean_up() {
    auto gone = [&](const Ending& one) {
        bool alive = process::is_alive(static_cast<int>(one.pid));
        if (alive) return false;
        if (bpf::Map* traced = loaded_.map(codegen::maps::kTraced)) traced->erase(&one.kernel_pid);
        if (bpf::Map* seeds = loaded_.map(codegen::maps::kSeeds)) seeds->erase(&one.pid);
        return true;
    };
    std::erase_if(ending_, gone);
}

// In a pid namespace the kernel's map names children by numbers that are not ours: /proc tells
// ours.
std::vector<int> Follower::processes() {
    if (everyone_) {
        Result<std::vector<int>> all = process::all_processes();
        return all ? std::move(*all) : std::vector<int>();
    }
    std::vector<int> found;
    bool in_namespace = loaded_.map(codegen::maps::kSeeds) != nullptr;
    if (in_namespace) {
        std::erase_if(children_, [](int pid) { return !process::is_alive(pid); });
        for (int pid : roots_) {
            for (int child : process::descendants_of(pid)) {
                if (std::ranges::find(children_, child) == children_.end())
                    children_.push_back(child);
            }
        }
        found = children_;
        found.insert(found.end(), roots_.begin(), roots_.end());
    } else if (bpf::Map* traced = loaded_.map(codegen::maps::kTraced)) {
        for (const std::vector<std::byte>& key : traced->keys()) {
            found.push_back(static_cast<int>(pid_of(key)));
        }
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

bool Follower::reads_maps() const {
    uint32_t zero = 0;
    bpf::Map* control = loaded_.map(codegen::maps::kControl);
    return control != nullptr && control->lookup(&zero).has_value();
}

size_t Follower::running_roots() const {
    return static_cast<size_t>(std::count_if(roots_.begin(), roots_.end(),
                                             [](int pid) { return process::is_alive(pid); }));
}

}  // namespace mlbcc::session
