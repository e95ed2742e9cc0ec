#include "books.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace cuda_sim {
namespace {

constexpr const char* kFamilyNames[] = {"device",   "pitch", "managed",    "async",
                                        "physical", "host",  "registered", "mapped"};
constexpr const char* kDirectionNames[] = {"host_to_device", "device_to_host", "device_to_device"};

unsigned long long number(std::uint64_t n) {
    return n;
}

std::string expand(const char* path) {
    std::string name = path;
    if (auto at = name.find("%p"); at != std::string::npos)
        name.replace(at, 2, std::to_string(getpid()));
    return name;
}

}  // namespace

void Books::Account::take(std::size_t n) {
    bytes += n;
    current += n;
    peak = std::max(peak, current);
    ++allocations;
}

void Books::Account::give_back(std::size_t n) {
    current -= n;
    ++frees;
}

void Books::account(Family family, void (Account::*change)(std::size_t), std::size_t bytes,
                    int device) {
    std::lock_guard hold(lock_);
    (families_[index_of(family)].*change)(bytes);
    if (is_view(family)) return;
    ((on_device(family) ? device_ : host_).*change)(bytes);
    if (on_device(family)) (devices_[static_cast<std::size_t>(device)].*change)(bytes);
}

std::uint64_t Books::device_bytes(int device) const {
    std::lock_guard hold(lock_);
    return devices_[static_cast<std::size_t>(device)].current;
}

// "device":{"bytes":4096,"current":0,"peak":4096,"allocations":1,"frees":1}
void Books::write_account(void* file, const char* name, const Account& a) {
    std::fprintf(static_cast<FILE*>(file),
                 "\"%s\":{\"bytes\":%llu,\"current\":%llu,\"peak\":%llu,\"allocations\":%llu,"
                 "\"frees\":%llu}",
                 name, number(a.bytes), number(a.current), number(a.peak), number(a.allocations),
                 number(a.frees));
}

void Books::kernel_ran(std::string_view name) {
    add(kernels_run_, 1);
    std::lock_guard hold(lock_);
    const auto found = kernels_.try_emplace(std::string(name), 0).first;
    ++found->second;
}

// "calls":{"cuInit":1,"cuMemAlloc_v2":8}
void Books::write_counters(void* to, const char* name, const SymbolCounters& counters) {
    FILE* file = static_cast<FILE*>(to);
    std::fprintf(file, "\"%s\":{", name);
    const char* separator = "";
    for (std::size_t i = 0; i < counters.size(); ++i) {
        if (!counters[i]) continue;
        std::fprintf(file, "%s\"%s\":%llu", separator, name_of(static_cast<Symbol>(i)),
                     number(counters[i]));
        separator = ",";
    }
    std::fputs("}", file);
}

void Books::write_kernels(void* to) const {
    FILE* file = static_cast<FILE*>(to);
    std::fprintf(file,
                 "\"launches\":%llu,\"captured\":%llu,\"kernels_run\":%llu,"
                 "\"graph_launches\":%llu,\"graph_kernels\":%llu,\"kernels\":{",
                 number(launches_), number(captured_), number(kernels_run_),
                 number(graph_launches_), number(graph_kernels_));
    const char* separator = "";
    for (const auto& [name, runs] : kernels_) {
        std::fprintf(file, "%s\"%s\":%llu", separator, name.c_str(), number(runs));
        separator = ",";
    }
    std::fputs("}", file);
}

bool Books::write(const char* path) const {
    FILE* file = std::fopen(expand(path).c_str(), "we");
    if (!file) return false;
    std::lock_guard hold(lock_);
    std::fprintf(file, "{\"pid\":%d,", getpid());
    write_account(file, "device", device_);
    std::fputs(",", file);
    write_account(file, "host", host_);
    std::fputs(",\"devices\":{", file);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        if (i) std::fputs(",", file);
        write_account(file, std::to_string(i).c_str(), devices_[i]);
    }
    std::fputs("}", file);
    std::fputs(",\"families\":{", file);
    for (std::size_t i = 0; i < families_.size(); ++i) {
        if (i) std::fputs(",", file);
        write_account(file, kFamilyNames[i], families_[i]);
    }
    std::fputs("},", file);
    write_kernels(file);
    std::fputs(",\"bytes_copied\":{", file);
    for (std::size_t i = 0; i < copied_.size(); ++i)
        std::fprintf(file, "%s\"%s\":%llu", i ? "," : "", kDirectionNames[i], number(copied_[i]));
    std::fprintf(file, "},\"host_side\":{\"pinned\":%llu,\"pageable\":%llu},", number(pinned_),
                 number(pageable_));
    write_counters(file, "calls", calls_);
    std::fputs(",", file);
    write_counters(file, "failures", failures_);
    std::fputs("}\n", file);
    return std::fclose(file) == 0;
}

}  // namespace cuda_sim
