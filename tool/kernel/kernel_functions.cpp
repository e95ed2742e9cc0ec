#include "kernel/kernel_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "files/read_lines.h"
#include "text/glob.h"

namespace mlbcc::kernel {

namespace {

// No call enters what gcc moved away from a function; calls of static calls are patched jumps.
bool is_function(std::string_view name) {
    return !name.ends_with(".cold") && name.find(".cold.") == name.npos &&
           !name.starts_with("__SCT__") && !name.starts_with("__ftrace_invalid_address__");
}

// Code that the kernel makes at run time: "bpf", "__builtin__ftrace".
bool is_generated(std::string_view module) {
    return module == "bpf" || module.starts_with("__builtin__");
}

// "vfs_read", "nvidia_ioctl [nvidia]"
KallsymsName parse_function(std::string_view text) {
    KallsymsName function;
    const size_t space = text.find_first_of(" \t");
    function.name = text.substr(0, space);
    const size_t open = text.find('[', function.name.size());
    if (open != text.npos && text.ends_with(']')) {
        function.module = text.substr(open + 1, text.size() - open - 2);
    }
    return function;
}

// "ffffffff814bd140 vfs_read"
KallsymsName parse_with_address(std::string_view text) {
    uint64_t address = 0;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, address, 16);
    if (error != std::errc() || after == end || *after != ' ') return {};
    KallsymsName function = parse_function({after + 1, static_cast<size_t>(end - after - 1)});
    function.address = address;
    return function;
}

using ParseLine = KallsymsName (*)(std::string_view);

// Nothing where the file cannot be read: old kernels lack one, locked ones refuse both.
KernelNames read_filter_functions(const std::string& path, ParseLine parse) {
    KernelNames names;
    const Result<void> read = files::read_lines(path, [&](std::string_view line) {
        const KallsymsName function = parse(line);
        if (!function.name.empty() && is_function(function.name)) names.add(function);
    });
    return read ? std::move(names) : KernelNames();
}

// "0xffffffff81001000-0xffffffff81001042\tasm_exc_page_fault"
std::vector<std::string> read_blacklist(const std::string& path) {
    std::vector<std::string> names;
    const Result<void> read = files::read_lines(path, [&](std::string_view line) {
        const size_t tab = line.find('\t');
        if (tab != line.npos) names.emplace_back(line.substr(tab + 1));
    });
    if (!read) return {};  // without debugfs; the kernel's refusal is an answer, too
    std::ranges::sort(names);
    return names;
}

KernelNames functions_of(const Kallsyms& kallsyms) {
    KernelNames functions;
    for (size_t i = 0; i < kallsyms.symbols.size(); ++i) {
        const KallsymsName symbol = kallsyms.symbols[i];
        if (!is_function(symbol.name) || is_generated(symbol.module)) continue;
        if (!kallsyms.init.contains(symbol.address)) functions.add(symbol);
    }
    return functions;
}

// uvm_ioctl.part.0 is what gcc moved out of uvm_ioctl, which calls it: together they would count
// twice. Where all of it but this part was inlined, the part is what there is.
void drop_parts(std::vector<LiveFunction>& found) {
    const auto key = [](const LiveFunction& f) { return std::tie(f.symbol, f.module); };
    std::vector<LiveFunction> kept;
    for (const LiveFunction& one : found) {
        const bool is_part = one.symbol.find(".part.") != std::string::npos;
        const auto whole = std::tie(one.name, one.module);
        if (!is_part || !std::ranges::binary_search(found, whole, {}, key)) kept.push_back(one);
    }
    found = std::move(kept);
}

}  // namespace

std::string_view without_suffix(std::string_view symbol) {
    const size_t dot = symbol.find('.');
    return dot == 0 ? symbol : symbol.substr(0, dot);
}

Result<KernelFunctions> KernelFunctions::read(const KernelFunctionFiles& files) {
    KernelFunctions all;
    all.blacklist_ = read_blacklist(files.blacklist);
    const std::string names = files.tracefs + "/available_filter_functions";
    const std::string with_addresses = names + "_addrs";  // Linux 6.5
    all.is_from_ftrace_ = true;
    for (const std::string& path : {with_addresses, names}) {
        all.functions_ = read_filter_functions(path, path == with_addresses ? parse_with_address
                                                                            : parse_function);
        all.source_ = path;
        if (all.size() > 0) return all;
    }
    Result<Kallsyms> kallsyms = read_kallsyms(files.kallsyms);
    if (!kallsyms) return kallsyms.error();
    all.functions_ = functions_of(*kallsyms);
    all.no_kprobes_ = std::move(kallsyms->no_kprobes);
    all.source_ = files.kallsyms;
    all.is_from_ftrace_ = false;
    return all;
}

bool KernelFunctions::is_blacklisted(const KallsymsName& function) const {
    const auto inside = [&](const AddressRange& range) { return range.contains(function.address); };
    if (std::ranges::any_of(no_kprobes_, inside)) return true;
    const std::string listed = function.module.empty()
                                   ? std::string(function.name)
                                   : fmt::format("{} [{}]", function.name, function.module);
    return std::ranges::binary_search(blacklist_, listed);
}

std::vector<LiveFunction> KernelFunctions::find(std::string_view pattern) const {
    std::vector<LiveFunction> found;
    for (size_t i = 0; i < size(); ++i) {
        const KallsymsName one = functions_[i];
        const std::string_view name = without_suffix(one.name);
        const bool has_suffix = name.size() != one.name.size();
        if (!glob_match(pattern, name) && !(has_suffix && glob_match(pattern, one.name))) continue;
        found.push_back({std::string(one.name), std::string(name), std::string(one.module),
                         one.address, false, is_blacklisted(one)});
    }
    std::ranges::sort(
        found, {}, [](const LiveFunction& f) { return std::tie(f.symbol, f.module, f.address); });
    drop_parts(found);
    // All of a name match if one does.
    for (size_t i = 1; i < found.size(); ++i) {
        if (found[i].symbol != found[i - 1].symbol) continue;
        found[i].is_ambiguous = found[i - 1].is_ambiguous = true;
    }
    return found;
}

std::vector<std::string> KernelFunctions::names() const {
    std::vector<std::string> names;
    names.reserve(size());
    for (size_t i = 0; i < size(); ++i) names.emplace_back(without_suffix(functions_[i].name));
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace mlbcc::kernel
