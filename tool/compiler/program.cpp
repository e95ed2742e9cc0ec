#include "compiler/program.h"

#include <bcc/bpf_module.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <chrono>
#include <memory>
#include <span>

#include "base/result.h"
#include "compiler/capture.h"
#include "compiler/interpose.h"
#include "compiler/job.h"
#include "compiler/last_words.h"
#include "compiler/loaded.h"

namespace mlbcc::compiler {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint8_t kLoadImmediate64 = 0x18;  // BPF_LD | BPF_DW | BPF_IMM
constexpr int kPseudoKfuncCall = 2;         // BPF_PSEUDO_KFUNC_CALL, linux/bpf.h
constexpr size_t kVerifierLog = size_t{4} << 20;
constexpr size_t kShownLog = size_t{256} << 10;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

//   call 0x7fff0001   ->   call kfunc#98765
void call_kfuncs(std::span<bpf_insn> instructions, const Kfuncs& kfuncs) {
    for (size_t i = 0; i < instructions.size(); ++i) {
        bpf_insn& at = instructions[i];
        if (at.code == kLoadImmediate64) ++i;  // its second half is no instruction
        if (at.code != (BPF_JMP | BPF_CALL) || at.src_reg != 0) continue;
        auto found = kfuncs.find(at.imm);
        if (found == kfuncs.end()) continue;
        at.src_reg = kPseudoKfuncCall;
        at.off = 0;  // a function of the kernel itself, not of a module
        at.imm = found->second;
    }
}

// One program after another, with one buffer for the verifier's log. The kernel writes it only on a
// failure, so its pages are touched only then.
class Loader {
public:
    Loader(ebpf::BPFModule& module, const Job& job)
        : module_(module), job_(job), log_(new char[kVerifierLog]) {
        log_[0] = '\0';
    }
    Result<LoadedProgram> load(const ProgramSpec& spec);
    std::string log() const { return log_.get(); }  // of the last program that was refused

private:
    Result<UniqueFd> load(const ProgramSpec& spec, std::span<bpf_insn> code);
    ebpf::BPFModule& module_;
    const Job& job_;
    std::unique_ptr<char[]> log_;
};

Result<LoadedProgram> Loader::load(const ProgramSpec& spec) {
    auto* start = reinterpret_cast<bpf_insn*>(module_.function_start(spec.name));
    if (start == nullptr) return Error{"there is no function `" + spec.name + "` in the program"};
    std::span code(start, module_.function_size(spec.name) / sizeof(bpf_insn));
    LoadedProgram loaded{spec.name, code.size(), {}};
    if (job_.emit_only) return loaded;
    call_kfuncs(code, job_.kfuncs);
    auto fd = load(spec, code);
    if (!fd) return fd.error();
    loaded.fd = std::move(*fd);
    return loaded;
}

Result<UniqueFd> Loader::load(const ProgramSpec& spec, std::span<bpf_insn> code) {
    errno = 0;
    int fd = module_.bcc_func_load(
        spec.type, spec.name.c_str(), code.data(), static_cast<int>(code.size_bytes()), "GPL",
        module_.kern_version(), 0, log_.get(), kVerifierLog, nullptr, 0, spec.attach_type);
    if (fd >= 0) return UniqueFd(fd);
    // libbpf returns the error's number; where libbcc itself gives up, -1.
    return Error{"the kernel refuses the program `" + spec.name + "`", fd < -1 ? -fd : errno, {}};
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
    LoadedMap map{module.table_name(i), {}, {}};
    if (emit_only) {
        map.info = declared(module, i);
        return map;
    }
    // The module closes its own descriptor when it goes.
    map.fd.reset(::fcntl(module.table_fd(i), F_DUPFD_CLOEXEC, 4));
    if (!map.fd) return system_error("cannot keep the map `" + map.name + "`");
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

Reply build(const Job& job, const Capture& capture) {
    Loaded loaded;
    auto start = Clock::now();
    ebpf::BPFModule module(0, nullptr, false);
    if (!compile(module, job)) {
        return failure({Error{"the program cannot be compiled"}, "compile", "", capture.text()});
    }
    loaded.compile_ms = ms_since(start);
    loaded.log = capture.text();
    start = Clock::now();
    auto maps = describe_maps(module, job.emit_only);
    if (!maps) return failure({maps.error(), "load", "", capture.text()});
    loaded.maps = std::move(*maps);
    Loader loader(module, job);
    for (const ProgramSpec& spec : job.programs) {
        auto program = loader.load(spec);
        if (!program) return failure({program.error(), "load", spec.name, end_of(loader.log())});
        loaded.programs.push_back(std::move(*program));
    }
    loaded.load_ms = ms_since(start);
    return reply_of(std::move(loaded));
}

}  // namespace

Reply compile_program(const JsonValue& request) {
    auto job = read_job(request);
    if (!job) return failure({job.error(), "compile", "", ""});
    auto headers = use_headers(job->kernel_dir);
    if (!headers) return failure({headers.error(), "compile", "", ""});
    auto capture = Capture::start();
    if (!capture) return failure({capture.error(), "compile", "", ""});
    LastWords last_words("LLVM crashed on the program");
    last_words.printed_to(*capture);
    PretendedMaps pretended(job->emit_only);
    return build(*job, *capture);
}

}  // namespace mlbcc::compiler
