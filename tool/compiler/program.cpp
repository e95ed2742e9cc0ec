#include "compiler/program.h"

#include <bcc/bpf_module.h>
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <variant>

#include "base/result.h"
#include "compiler/bundle.h"
#include "compiler/capture.h"
#include "compiler/interpose.h"
#include "compiler/job.h"
#include "compiler/last_words.h"
#include "compiler/link.h"
#include "compiler/loaded.h"

namespace mlbcc::compiler {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kVerifierLog = size_t{4} << 20;
constexpr size_t kShownLog = size_t{256} << 10;

// The end of a long log says what is wrong.
std::string end_of(const std::string& log) {
    return log.size() <= kShownLog ? log : "[...]" + log.substr(log.size() - kShownLog);
}

// ---- compile

// Without these headers libbcc would look for the machine's own, and unpack /sys/kernel/kheaders.
Result<void> use_headers(const std::string& kernel_dir) {
    if (!kernel_dir.starts_with('/')) {
        return Error{"`" + kernel_dir + "` is not an absolute path of a folder of kernel headers"};
    }
    std::string first = kernel_dir + "/include/linux/kconfig.h";
    if (::access(first.c_str(), R_OK) != 0) return system_error("cannot read " + first);
    ::setenv("BCC_KERNEL_SOURCE", kernel_dir.c_str(), 1);
    return {};
}

// What clang says of an undefined function is only a warning otherwise, and the verifier's word
// for it ("invalid func unknown#195896080") is no help.
bool compile(ebpf::BPFModule& module, const Job& job) {
    std::vector<const char*> flags{"-Werror=implicit-function-declaration"};
    for (const std::string& flag : job.cflags) flags.push_back(flag.c_str());
    return module.load_string(job.source, flags.data(), static_cast<int>(flags.size())) == 0;
}

// ---- load

// One program after another, with one buffer for the verifier's log, whose pages are touched only
// on a failure.
class Loader {
public:
    Loader(const ebpf::BPFModule& module, const Job& job, const LineTable& lines)
        : module_(module), job_(job), lines_(lines), log_(new char[kVerifierLog]) {
        log_[0] = '\0';
        for (const auto& [number, name] : job.commons) {
            if (Code code = code_of(name); !code.empty()) commons_[number] = code;
        }
        names_.commons = job.commons;
        for (size_t i = 0; i < module.num_tables(); ++i)
            names_.maps.emplace(module.table_fd(i), module.table_name(i));
    }
    Result<JobProgram> load(const ProgramSpec& spec);
    std::string log() const { return log_.get(); }  // of the last program that was refused
    const std::vector<Listed>& listing() const { return listing_; }  // likewise

private:
    Code code_of(const std::string& function) const;
    Result<UniqueFd> load(const ProgramSpec& spec, Code code);
    const ebpf::BPFModule& module_;
    const Job& job_;
    const LineTable& lines_;
    std::unique_ptr<char[]> log_;
    Commons commons_;
    ListingNames names_;
    std::vector<Listed> listing_;
};

// Empty where there is no such function.
Code Loader::code_of(const std::string& function) const {
    auto* start = reinterpret_cast<const bpf_insn*>(module_.function_start(function));
    if (start == nullptr) return {};
    return {start, module_.function_size(function) / sizeof(bpf_insn)};
}

Result<JobProgram> Loader::load(const ProgramSpec& spec) {
    Code alone = code_of(spec.name);
    if (alone.empty()) return Error{"there is no function `" + spec.name + "` in the program"};
    Linked linked = link(alone, commons_, job_.kfuncs);
    JobProgram loaded{.name = spec.name, .instructions = linked.code.size()};
    if (job_.listing) listing_ = listing_of(spec.name, linked, lines_, names_);
    if (!job_.emit_only) {
        auto fd = load(spec, linked.code);
        if (!fd) return fd.error();
        loaded.fd = std::move(*fd);
    }
    loaded.listing = std::move(listing_);
    if (job_.bundle) loaded.code = std::move(linked.code);
    return loaded;
}

// By libbpf, and not by libbcc, which is not made for two threads. Its retry with a log, where the
// kernel refuses, tells why.
Result<UniqueFd> Loader::load(const ProgramSpec& spec, Code code) {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    if (spec.attach_type >= 0) {
        options.expected_attach_type = static_cast<bpf_attach_type>(spec.attach_type);
    }
    options.kern_version = module_.kern_version();
    options.log_buf = log_.get();
    options.log_size = kVerifierLog;
    int fd = bpf_prog_load(static_cast<bpf_prog_type>(spec.type), spec.name.c_str(), "GPL",
                           code.data(), code.size(), &options);
    if (fd >= 0) return UniqueFd(fd);
    return Error{"the kernel refuses the program `" + spec.name + "`", -fd, {}};
}

MapInfo declared(const ebpf::BPFModule& module, size_t i) {
    auto u32 = [](auto value) { return static_cast<uint32_t>(value); };
    return MapInfo{0,
                   u32(module.table_type(i)),
                   u32(module.table_key_size(i)),
                   u32(module.table_leaf_size(i)),
                   u32(module.table_max_entries(i)),
                   u32(module.table_flags(i))};
}

Result<LoadedMap> describe_map(const ebpf::BPFModule& module, size_t i, bool emit_only) {
    LoadedMap map{.name = module.table_name(i)};
    if (emit_only) {
        map.info = declared(module, i);
        return map;
    }
    // The module closes its own descriptor when it goes.
    map.fd.reset(::fcntl(module.table_fd(i), F_DUPFD_CLOEXEC, 4));
    if (!map.fd) return system_error("cannot keep the map `" + map.name + "`");
    map.compiled_with = module.table_fd(i);
    auto info = map_info(map.fd.get());
    if (!info) return info.error();
    map.info = *info;
    return map;
}

Result<std::vector<LoadedMap>> describe_maps(const ebpf::BPFModule& module, bool emit_only) {
    std::vector<LoadedMap> maps;
    for (size_t i = 0; i < module.num_tables(); ++i) {
        auto map = describe_map(module, i, emit_only);
        if (!map) return map.error();
        maps.push_back(std::move(*map));
    }
    return maps;
}

// The verifier is most of the work: every second program by another thread.
std::variant<std::vector<JobProgram>, Failure>
load_programs(const ebpf::BPFModule& module, const Job& job, const LineTable& lines) {
    std::vector<JobProgram> programs(job.programs.size());
    std::array<std::optional<Failure>, 2> failures;
    auto load = [&](size_t first) {
        Loader loader(module, job, lines);
        for (size_t i = first; i < programs.size() && !failures[first]; i += failures.size()) {
            auto program = loader.load(job.programs[i]);
            if (program)
                programs[i] = std::move(*program);
            else
                failures[first] = Failure{program.error(), "load", job.programs[i].name,
                                          end_of(loader.log()), loader.listing()};
        }
    };
    std::thread other(load, 1);
    load(0);
    other.join();
    for (auto& failed : failures) {
        if (failed) return std::move(*failed);
    }
    return programs;
}

Reply build(const Job& job, const OutputCapture& capture) {
    LoadedJob loaded;
    auto start = Clock::now();
    LineKeeper keeper;
    ebpf::BPFModule module(0, nullptr, false);
    if (!compile(module, job)) {
        return failure(
            {Error{"the program cannot be compiled"}, "compile", "", capture.text(), {}});
    }
    loaded.compile_ms = ms_since(start);
    loaded.log = capture.text();
    start = Clock::now();
    auto maps = describe_maps(module, job.emit_only);
    if (!maps) return failure({maps.error(), "load", "", capture.text(), {}});
    loaded.maps = std::move(*maps);
    auto programs = load_programs(module, job, keeper.lines);
    if (const auto* refused = std::get_if<Failure>(&programs)) return failure(*refused);
    loaded.programs = std::move(std::get<std::vector<JobProgram>>(programs));
    loaded.load_ms = ms_since(start);
    if (job.bundle && !job.emit_only) {
        if (auto bundle = bundle_of(job, loaded)) loaded.bundle = std::move(*bundle);
    }
    return reply_of(std::move(loaded));
}

}  // namespace

Reply compile_program(const JsonValue& request, std::vector<UniqueFd> fds) {
    auto job = read_job(request, std::move(fds));
    if (!job) return failure({job.error(), "compile", "", "", {}});
    auto headers = use_headers(job->kernel_dir);
    if (!headers) return failure({headers.error(), "compile", "", "", {}});
    auto capture = OutputCapture::start();
    if (!capture) return failure({capture.error(), "compile", "", "", {}});
    LastWords last_words("LLVM crashed on the program");
    last_words.printed_to(*capture);
    MapSource maps(job->maps, job->emit_only);
    return build(*job, *capture);
}

}  // namespace mlbcc::compiler
