#include "load/detach.h"

#include <algorithm>
#include <future>

#include "base/threads.h"

namespace mlbcc::load {
namespace {

constexpr size_t kMostThreads = 32;

}  // namespace

void detach(std::vector<bpf::Attachment> attachments) {
    const size_t threads = std::min(attachments.size(), kMostThreads);
    std::vector<std::future<void>> closing;
    for (size_t first = 0; first < threads; ++first) {
        closing.push_back(on_a_thread([&attachments, first, threads] {
            for (size_t i = first; i < attachments.size(); i += threads) {
                const bpf::Attachment gone = std::move(attachments[i]);
            }
        }));
    }
}

}  // namespace mlbcc::load
