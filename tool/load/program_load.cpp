#include "load/program_load.h"

#include <utility>

#include "base/threads.h"

namespace mlbcc::load {

ProgramLoad::ProgramLoad(std::string bytes, std::map<std::string, UniqueFd> maps, size_t threads)
    : bytes_(std::move(bytes)), existing_(std::move(maps)),
      prepared_(on_a_thread([this] { return prepare(); }).share()) {
    for (size_t i = 0; i < threads; ++i) {
        threads_.push_back(on_a_thread([this] {
            if (prepared_.get()) load();
        }));
    }
}

ProgramLoad::~ProgramLoad() {
    failed_ = true;
}

bool ProgramLoad::prepare() {
    Result<bpf::Bundle> read = bpf::Bundle::read(std::move(bytes_));
    if (!read) return false;
    bundle_.emplace(std::move(*read));
    std::map<std::string, int> maps;
    for (const auto& [name, fd] : existing_) maps.emplace(name, fd.get());
    return static_cast<bool>(bundle_->make_maps(maps));
}

void ProgramLoad::load() {
    while (!failed_) {
        const size_t program = next_++;
        if (program >= bundle_->programs()) return;
        if (!bundle_->load(program)) failed_ = true;
    }
}

std::optional<bpf::Compiled> ProgramLoad::take() {
    if (!prepared_.get()) return std::nullopt;
    load();
    for (std::future<void>& one : threads_) one.get();
    if (failed_) return std::nullopt;
    return bundle_->take();
}

}  // namespace mlbcc::load
