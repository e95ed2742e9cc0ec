// Programs that were compiled before, on their way into the kernel. The verifier is most of the
// work: threads share it, and whoever waits for the end does its part.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bpf/bundle.h"

namespace mlbcc::load {

class ProgramLoad {
public:
    // `bytes` of a bundle (bpf/bundle.h); `maps` that there are, by name, are the load's own from
    // now on.
    ProgramLoad(std::string bytes, std::map<std::string, UniqueFd> maps, size_t threads);
    ProgramLoad(const ProgramLoad&) = delete;
    ProgramLoad& operator=(const ProgramLoad&) = delete;
    ~ProgramLoad();  // what is not in the kernel yet stays out

    // Waits for all of them; nothing where one was refused. Once.
    std::optional<bpf::Compiled> take();

private:
    bool prepare();  // reads the bundle, makes its maps
    void load();     // programs that no other thread has begun

    std::string bytes_;
    std::map<std::string, UniqueFd> existing_;
    std::optional<bpf::Bundle> bundle_;
    std::shared_future<bool> prepared_;
    std::atomic<size_t> next_ = 0;
    std::atomic<bool> failed_ = false;
    std::vector<std::future<void>> threads_;
};

}  // namespace mlbcc::load
