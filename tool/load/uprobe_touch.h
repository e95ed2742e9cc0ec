// Keeps the kernel ready to register uprobes at once (bpf::register_idle_uprobe()), on threads of
// its own.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "base/threads.h"
#include "bpf/kernel.h"

namespace mlbcc::load {

class UprobeTouch {
public:
    UprobeTouch() = default;
    UprobeTouch(const UprobeTouch&) = delete;
    UprobeTouch& operator=(const UprobeTouch&) = delete;
    ~UprobeTouch() { enough(); }

    void start() {
        touching_ = on_a_thread([this] { touch(); });
    }
    void enough() { enough_ = true; }

private:
    // It stays ready for a grace period.
    static constexpr std::chrono::milliseconds kStaysReady{6};
    static constexpr int kMost = 40;  // whatever takes so long does not begin with this

    void touch() {
        std::vector<std::future<void>> closing;
        for (int i = 0; i < kMost && !enough_; ++i) {
            auto link = std::make_shared<UniqueFd>(bpf::register_idle_uprobe());
            if (!*link) return;
            closing.push_back(on_a_thread([link] { link->reset(); }));
            std::this_thread::sleep_for(kStaysReady);
        }
    }

    std::atomic<bool> enough_ = false;
    std::future<void> touching_;
};

}  // namespace mlbcc::load
