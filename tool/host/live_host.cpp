#include "host/live_host.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/open_file.h"
#include "elf/elf_file.h"
#include "elf/usdt.h"
#include "files/mounts.h"
#include "kernel/syscall_table.h"
#include "kernel/tracepoints.h"

namespace mlbcc::host {

namespace {

std::string machine_of_kernel() {
    utsname name{};
    return uname(&name) == 0 ? name.machine : "";
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const std::string& text : from) {
        if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
    }
}

}  // namespace

LiveHost::LiveHost(std::vector<process::ProcessView> views) {
    if (views.empty()) views.emplace_back();
    const std::string machine = machine_of_kernel();
    for (process::ProcessView& view : views) searchers_.emplace_back(std::move(view), machine);
}

target::LibrarySearch LiveHost::find_library(std::string_view name, std::string_view directory) {
    target::LibrarySearch all;
    for (LibrarySearcher& searcher : searchers_) {
        const target::LibrarySearch found = searcher.find(name, directory);
        for (const std::string& path : found.paths) append_new(all.paths, {known_path(path)});
        append_new(all.searched, found.searched);
        append_new(all.similar, found.similar);
    }
    return all;
}

std::vector<WatchedPlace> LiveHost::places(std::string_view name, std::string_view directory,
                                           bool anywhere) const {
    std::vector<WatchedPlace> all;
    for (const LibrarySearcher& searcher : searchers_) {
        for (WatchedPlace& place : searcher.places(name, directory, anywhere)) {
            if (std::ranges::find(all, place) == all.end()) all.push_back(std::move(place));
        }
    }
    return all;
}

// A probe sits on the file, not on its name: probes on two of its names would both fire.
const std::string& LiveHost::known_path(const std::string& path) {
    const std::optional<files::FileId> id = files::file_id(path);
    if (!id) return path;
    return paths_.emplace(*id, path).first->second;
}

Result<target::Symbols> LiveHost::symbols(const std::string& path) {
    const auto known = symbols_.find(path);
    if (known != symbols_.end()) return known->second;
    Result<target::Symbols> read = elf::read_symbols(path);
    if (read) symbols_.emplace(path, *read);
    return read;
}

Result<std::vector<std::byte>> LiveHost::read(const std::string& path, uint64_t offset,
                                              size_t size) {
    if (!open_.file || open_.path != path) {
        Result<UniqueFd> file = open_file(path);
        if (!file) return file.error();
        struct stat status;
        if (fstat(file->get(), &status) != 0)
            return system_error(fmt::format("cannot read {}", path));
        open_ = {path, std::move(*file), static_cast<uint64_t>(status.st_size)};
    }
    size = std::min<uint64_t>(size, open_.size - std::min(offset, open_.size));
    std::vector<std::byte> bytes(size);
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(open_.file.get(), bytes.data() + done, size - done,
                                  static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(fmt::format("cannot read {}", path));
        if (got == 0) break;
        done += static_cast<size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

std::string LiveHost::architecture() {
    return machine_of_kernel();
}

Result<std::vector<std::string>> LiveHost::tracepoints() {
    Result<std::string> tracefs = files::ensure_tracefs();
    if (!tracefs) return tracefs.error();
    return kernel::list_tracepoints(*tracefs);
}

Result<target::TracepointFormat> LiveHost::tracepoint(const std::string& category,
                                                      const std::string& name) {
    Result<std::string> tracefs = files::ensure_tracefs();
    if (!tracefs) return tracefs.error();
    return kernel::read_tracepoint(*tracefs, category, name);
}

// Which there are is known to tracefs, which numbers they have to us. Without tracefs, all that we
// know.
Result<std::vector<target::SyscallName>> LiveHost::syscalls() {
    const std::string machine = architecture();
    std::vector<target::SyscallName> all;
    const auto add = [&](const std::string& name, const std::string& kernel_name) {
        if (const auto number = kernel::syscall_number(name, machine)) {
            all.push_back({name, *number, kernel_name});
        }
    };
    constexpr std::string_view kBegin = "syscalls:sys_enter_";
    if (const auto events = tracepoints()) {
        for (const std::string& event : *events) {
            if (!event.starts_with(kBegin)) continue;
            const std::string kernel_name = event.substr(kBegin.size());
            add(kernel::syscall_name(kernel_name), kernel_name);
        }
    }
    if (all.empty()) {
        for (const std::string& name : kernel::syscall_names(machine)) add(name, name);
    }
    std::ranges::sort(all, {}, &target::SyscallName::number);
    return all;
}

Result<target::KernelSearch> LiveHost::kernel_functions(const std::string& pattern, bool thorough) {
    return kernel_.find(pattern, thorough);
}

std::vector<std::string> LiveHost::kernel_names() {
    return kernel_.names();
}

const rules::Signature* LiveHost::kernel_signature(const target::KernelFunction& function,
                                                   rules::TypeTable& types) {
    return kernel_.signature(function, types);
}

Result<uint32_t> LiveHost::kernel_offset(const std::string& field) {
    return kernel_.offset(field);
}

Result<rules::TypeId> LiveHost::kernel_task(const kernel::KernelTypes::Names& members,
                                            rules::TypeTable& types) {
    return kernel_.task(members, types);
}

Result<target::UsdtProbes> LiveHost::usdt(const std::string& path) {
    return elf::read_usdt(path);
}

}  // namespace mlbcc::host
