// Rules as text against a machine as text: what is resolved comes out as text too.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "target/target.h"
#include "text/glob.h"

namespace mlbcc::target {

// "cuInit@10 cuMemAlloc@20" -> symbols at those offsets (hexadecimal), 16 bytes each.
inline Symbols symbols_of(std::string_view text, std::string machine = "x86_64") {
    Symbols symbols;
    symbols.machine = std::move(machine);
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        const size_t at = word.rfind('@');
        symbols.functions.push_back(
            {word.substr(0, at), std::stoull(word.substr(at + 1), nullptr, 16), 16});
    }
    return symbols;
}

class FakeHost : public Host {
public:
    std::map<std::string, LibrarySearch, std::less<>> libraries;  // by "DIRECTORY|NAME"
    std::map<std::string, std::variant<Symbols, Error>> files;    // by path
    std::map<std::string, TracepointFormat> formats;              // by "sched:sched_switch"
    std::vector<SyscallName> system_calls;
    KernelSearch kernel;  // all that it has; none: it has no kprobes
    std::map<std::string, std::vector<UsdtProbe>> usdt_probes;  // by path
    int searches = 0, reads = 0;

    // A library that is found by `name` at /lib/FILE.
    void add(const std::string& name, std::string_view functions) {
        const std::string path = "/lib/" + name.substr(name.rfind('/') + 1);
        libraries[name].paths.push_back(path);
        files[path] = symbols_of(functions);
    }

    LibrarySearch find_library(std::string_view name, std::string_view directory) override {
        searches++;
        std::string key = fmt::format("{}|{}", directory, name);
        if (auto found = libraries.find(key); found != libraries.end()) return found->second;
        if (auto found = libraries.find(name); found != libraries.end()) return found->second;
        return {{}, {"/etc/ld.so.cache", "/usr/lib"}, {}};
    }
    Result<Symbols> symbols(const std::string& path) override {
        reads++;
        const auto found = files.find(path);
        if (found == files.end()) return Error{"cannot open " + path, ENOENT, {}};
        if (const auto* error = std::get_if<Error>(&found->second)) return *error;
        return std::get<Symbols>(found->second);
    }
    Result<std::vector<std::byte>> read(const std::string&, uint64_t, size_t) override {
        return std::vector<std::byte>();
    }
    std::string architecture() override { return "x86_64"; }
    Result<KernelSearch> kernel_functions(const std::string& pattern, bool thorough) override {
        if (kernel.functions.empty()) return Error{"there are no kprobes", 0, {}};
        KernelSearch found;
        found.known = kernel.functions.size();
        for (const KernelFunction& one : kernel.functions) {
            bool matches = glob_match(pattern, one.base) || glob_match(pattern, one.symbol);
            if (matches) found.functions.push_back(one);
        }
        const auto take = [&](const std::vector<std::string>& from, std::vector<std::string>& to) {
            for (const std::string& one : from) {
                if (glob_match(pattern, one)) to.push_back(one);
            }
        };
        take(kernel.blacklisted, found.blacklisted);
        take(kernel.ambiguous, found.ambiguous);
        for (const KernelFunction& one : kernel.unprobed) {
            if (thorough && glob_match(pattern, one.base)) found.unprobed.push_back(one);
        }
        return found;
    }
    std::vector<std::string> kernel_names() override {
        std::vector<std::string> names;
        for (const KernelFunction& one : kernel.functions) names.push_back(one.base);
        return names;
    }
    // It knows the types of the kernel itself: `long NAME(size_t count, const char *name)`.
    const rules::Signature* kernel_signature(const KernelFunction& function,
                                             rules::TypeTable& types) override {
        if (!function.module.empty()) return nullptr;
        rules::Signature made;
        made.name = function.base;
        made.ret = types.add({"long", rules::IntType{8, true, false}});
        const auto size = types.add({"size_t", rules::IntType{8, false, false}});
        const auto letter = types.add({"char", rules::IntType{1, true, true}});
        const auto text = types.add({"const char *", rules::PointerType{letter, true}});
        made.params = {{"count", size}, {"name", text}};
        return types.keep(std::move(made));
    }
    Result<std::vector<std::string>> tracepoints() override {
        if (formats.empty()) return Error{"cannot open /t/available_events", ENOENT, "mount it"};
        std::vector<std::string> names;
        for (const auto& [name, format] : formats) names.push_back(name);
        return names;
    }
    Result<TracepointFormat> tracepoint(const std::string& category,
                                        const std::string& name) override {
        const auto found = formats.find(category + ":" + name);
        if (found == formats.end()) return Error{"no " + category + "/" + name, ENOENT, {}};
        if (found->second.id == 0) return Error{"cannot open its format", EACCES, {}};
        return found->second;
    }
    Result<UsdtProbes> usdt(const std::string& path) override {
        const auto found = usdt_probes.find(path);
        if (found == usdt_probes.end()) return Error{"cannot open " + path, ENOENT, {}};
        return UsdtProbes{"x86_64", found->second, 0};
    }
    Result<std::vector<SyscallName>> syscalls() override {
        if (system_calls.empty()) return Error{"the machine is none", 0, {}};
        return system_calls;
    }
};

// libcuda in little, with its real forms.
inline constexpr std::string_view kCuda =
    "cuInit@10 cuMemAlloc@20 cuMemAlloc_v2@30 cuMemFree@40 cuMemFree_v2@50 "
    "cuMemcpyHtoDAsync@60 cuMemcpyHtoDAsync_v2@70 cuMemcpyHtoDAsync_v2_ptsz@80 "
    "cuLaunchKernel@90 cuLaunchKernel_ptsz@a0 cuGetErrorName@b0 cuGetErrorString@c0";
inline constexpr std::string_view kCudaLine =
    "library cuda = \"libcuda.so.1\" variants _v2 _ptds _ptsz\n";

// The result of one resolve(): what tests look at.
class Resolved {
public:
    Resolved(std::string text, Host& host, rules::TypeTable types = {}, bool expects = false)
        : types_(std::move(types)) {
        const rules::LoadFile load = [&](std::string_view name, std::string_view) {
            return Result<rules::LoadedFile>(
                rules::LoadedFile{std::string(name), std::string(name), "rules", text});
        };
        rules_ = rules::parse("test.rules", load, diagnostics_);
        std::vector<SoughtLibrary> libraries;
        probes_ = expects
                      ? resolve_expecting(rules_, types_, host, diagnostics_, libraries, left_out_)
                      : resolve(rules_, types_, host, diagnostics_);
    }

    // "cuMemAlloc_v2+30(cuMemAlloc)": form, offset, base where it differs; "=a,b" are aliases.
    std::string functions() const {
        std::string text;
        for (const Probe& probe : probes_) {
            const auto& at = std::get<UserFunction>(probe.at);
            text += fmt::format("{}{}+{:x}", text.empty() ? "" : " ", at.symbol, at.offset);
            if (at.base != at.symbol) text += fmt::format("({})", at.base);
            if (!at.aliases.empty()) text += fmt::format("={}", fmt::join(at.aliases, ","));
        }
        return text;
    }
    // The rules that use a function, weakest first: "1 0".
    std::string uses(std::string_view symbol) const {
        std::string text;
        for (const RuleUse& use : probe(symbol).uses) {
            text += fmt::format("{}{}", text.empty() ? "" : " ", use.rule->index);
        }
        return text;
    }
    const Probe& probe(std::string_view symbol) const {
        for (const Probe& each : probes_) {
            if (std::get<UserFunction>(each.at).symbol == symbol) return each;
        }
        static const Probe none;
        return none;
    }
    // "syscall:openat 257 long(int dfd, const char * filename)", one a line; "<- 1 0" are the
    // rules.
    std::string points() const {
        std::string text;
        for (const Probe& probe : probes_) {
            if (std::holds_alternative<UserFunction>(probe.at)) continue;
            if (const auto* function = std::get_if<KernelFunction>(&probe.at)) {
                text += fmt::format("kernel:{}", function->symbol);
                if (!function->module.empty()) text += fmt::format(" [{}]", function->module);
                if (function->address != 0) text += fmt::format(" at {:x}", function->address);
                text += probe.signature == nullptr ? " unknown <-" : " ";
            }
            if (const auto* call = std::get_if<Syscall>(&probe.at)) {
                text += fmt::format("syscall:{} {} ", call->name, call->number);
            } else if (const auto* point = std::get_if<Tracepoint>(&probe.at)) {
                text +=
                    fmt::format("tracepoint:{}:{} {} ", point->category, point->name, point->id);
            } else if (const auto* interval = std::get_if<Interval>(&probe.at)) {
                text += fmt::format("{} ", period_text(interval->period_ns));
            } else if (const auto* usdt = std::get_if<Usdt>(&probe.at)) {
                text += fmt::format("usdt:{}:{:x} {}/{} ", usdt->file, usdt->probe.offset,
                                    usdt->place + 1, usdt->places);
            }
            if (probe.signature != nullptr) text += prototype(*probe.signature) + " <-";
            for (const RuleUse& use : probe.uses) text += fmt::format(" {}", use.rule->index);
            text += "\n";
        }
        return text;
    }
    std::string prototype(const rules::Signature& signature) const {
        std::vector<std::string> parameters;
        for (const rules::Param& one : signature.params) {
            parameters.push_back(types_[one.type].spelling + " " + one.name);
        }
        if (signature.variadic) parameters.emplace_back("...");
        return fmt::format("{}({})", types_[signature.ret].spelling, fmt::join(parameters, ", "));
    }
    const rules::TypeTable& types() const { return types_; }
    const UserFunction& function(std::string_view symbol) const {
        return std::get<UserFunction>(probe(symbol).at);
    }
    std::string messages() const { return diagnostics_.render({false, true}); }
    const std::vector<Probe>& probes() const { return probes_; }
    // "libcuda.so.1 2 calls that only ask"
    std::string left_out() const {
        std::string text;
        for (const LeftOut& one : left_out_) {
            text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", one.library, one.functions,
                                one.said);
        }
        return text;
    }

private:
    rules::TypeTable types_;
    rules::RuleSet rules_;
    Diagnostics diagnostics_;
    std::vector<Probe> probes_;
    std::vector<LeftOut> left_out_;
};

}  // namespace mlbcc::target
