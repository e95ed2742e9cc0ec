#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "bpf/kernel.h"

namespace mlbcc::bpf {
namespace {

constexpr uint32_t kThreads = 65536;  // as probe_templates/runtime.bpf.c has it

}  // namespace

Result<void> Map::update(const void* key, const void* value) {
    if (bpf_map_update_elem(fd_.get(), key, value, BPF_ANY) != 0) {
        return system_error("cannot write to a BPF map");
    }
    return {};
}

Result<void> Map::update(std::span<const std::byte> keys, std::span<const std::byte> values) {
    auto count = static_cast<uint32_t>(keys.size() / key_size_);
    MLBCC_CHECK(values.size() == size_t{count} * value_size_);
    if (count == 0 ||
        bpf_map_update_batch(fd_.get(), keys.data(), values.data(), &count, nullptr) == 0)
        return {};
    for (size_t i = 0; i < keys.size() / key_size_; ++i) {  // a kernel before 5.6
        auto done = update(keys.data() + i * key_size_, values.data() + i * value_size_);
        if (!done) return done;
    }
    return {};
}

void Map::erase(const void* key) {
    bpf_map_delete_elem(fd_.get(), key);
}

std::optional<std::vector<std::byte>> Map::lookup(const void* key) const {
    std::vector<std::byte> value(value_size_);
    if (bpf_map_lookup_elem(fd_.get(), key, value.data()) != 0) return std::nullopt;
    return value;
}

std::vector<std::vector<std::byte>> Map::lookup_per_cpu(const void* key) const {
    int cpus = libbpf_num_possible_cpus();
    if (cpus <= 0) return {};
    size_t stride = (value_size_ + 7) / 8 * 8;  // as the kernel lays per-CPU values out
    std::vector<std::byte> all(stride * static_cast<size_t>(cpus));
    if (bpf_map_lookup_elem(fd_.get(), key, all.data()) != 0) return {};
    std::vector<std::vector<std::byte>> values;
    for (size_t cpu = 0; cpu < static_cast<size_t>(cpus); ++cpu) {
        const std::byte* begin = all.data() + cpu * stride;
        values.emplace_back(begin, begin + value_size_);
    }
    return values;
}

std::vector<std::vector<std::byte>> Map::keys() const {
    std::vector<std::vector<std::byte>> all;
    std::vector<std::byte> key(key_size_);
    const void* previous = nullptr;
    while (bpf_map_get_next_key(fd_.get(), previous, key.data()) == 0) {
        all.push_back(key);
        previous = all.back().data();
    }
    return all;
}

Map* LoadedProgram::map(std::string_view name) {
    auto found = maps.find(name);
    return found == maps.end() ? nullptr : &found->second;
}

int LoadedProgram::program(std::string_view name) const {
    auto found = programs.find(name);
    return found == programs.end() ? -1 : found->second.get();
}

Result<Map> make_thread_table() {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
    UniqueFd table(
        bpf_map_create(BPF_MAP_TYPE_HASH, codegen::maps::kSwitched, 8, 4, kThreads, &options));
    if (!table) {
        return system_error("cannot make a BPF map",
                            "run as root, or with CAP_BPF and CAP_PERFMON");
    }
    return Map(std::move(table), 8, 4);
}

}  // namespace mlbcc::bpf
