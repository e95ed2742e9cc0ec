// The client of mlbcc-bcc, the helper process that holds libclang, LLVM's disassembler and libbcc:
//
//   C headers and declarations  -> types of functions, as the JSON of rules/ctypes.h
//   machine code of functions   -> where in each the probe on its entry goes
//   BPF C                       -> maps and loaded programs, as descriptors
//
// Each request is a send and a receive, so that the caller can work meanwhile; replies come in the
// order of the requests. The helper takes some 20 ms to start: start it early.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/channel.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::bpf {

// ---- types

struct TypesRequest {
    std::vector<std::string> headers;       // absolute paths, included in this order
    std::string text;                       // C declarations, with #line, that follow them
    std::vector<std::string> include_dirs;  // absolute; a header's own folder is searched anyway
    std::vector<std::string> system_dirs;   // probe_templates/include/libc
    std::optional<std::vector<std::string>> names;  // globs of the functions wanted; nullopt: all
    bool list_files = false;                        // tell which were read, too (rules::read_files)
    bool of_kernel = false;  // the one header includes the kernel's own, and there is no text
};

// ---- entries

struct FunctionCode {
    std::span<const std::byte> code;  // from the function's beginning, as much as there is
    uint64_t size = 0;                // the function's, bytes; 0 if unknown
    bool ends = false;                // where its calls end is asked for, too
};

// Where a function's calls end: bytes from its beginning.
struct CodeJump {
    uint64_t at = 0;
    int64_t to = 0;                     // a place outside
    std::optional<uint32_t> condition;  // what x86-64 asks of the flags: "jne" is 5
    bool operator==(const CodeJump&) const = default;
};
struct CodeEnds {
    std::vector<uint64_t> returns;   // instructions that return
    std::vector<CodeJump> jumps;     // that leave it, to return there
    std::vector<uint64_t> pointers;  // likewise, to where is not known
    std::string pointer;             // the first of them, for a person
    std::string unknown;             // why these are not all; "" where they are
};

struct EntryChoice {
    uint64_t offset = 0;   // bytes from the function's beginning
    std::string why;       // "+10 `je 12`: emulated; +0 `cmpl ...` would be single-stepped"
    bool refused = false;  // the kernel refuses a probe there (ENOTSUPP for the whole link)
    CodeEnds ends;         // where asked for
    bool stepped = false;  // the kernel single-steps the instruction
};

// ---- compile

enum class ProgramType { kprobe, tracepoint, raw_tracepoint };

struct ProgramRequest {
    std::string name;  // of the C function
    ProgramType type = ProgramType::kprobe;
    std::optional<uint32_t> attach_type;  // expected_attach_type: 48 uprobe multi, 57 session
};

struct CompileRequest {
    std::string source;
    std::string file;  // what messages call the source; `#line` in it overrides
    std::vector<std::string> cflags;
    std::string kernel_dir;  // absolute: probe_templates/include/kernel
    std::vector<ProgramRequest> programs;
    // Calls of the helper "number" become calls of the kernel function with that BTF id:
    //   static u64 *(*session_cookie)(void *) = (void *)0x7fff0001;     {0x7fff0001, 98765}
    std::map<uint32_t, uint32_t> kfuncs;
    // Likewise, calls of the C function with that name, which is linked to each program that does.
    std::map<uint32_t, std::string> commons;
    std::map<std::string, int> maps;  // that exist already, in place of those so named: descriptors
    bool emit_only = false;  // compile, load nothing: needs no rights, gives no descriptors
    bool listing = false;    // the programs' instructions shall come as text, too
    bool bundle = false;     // the compiled programs shall come as bytes, too
};

struct CompiledMap {
    std::string name;
    uint32_t id = 0, type = 0;              // BPF_MAP_TYPE_...
    uint32_t key_size = 0, value_size = 0;  // bytes; of a per-CPU map one CPU's value
    uint32_t max_entries = 0, flags = 0;
    UniqueFd fd;
};

struct ListedInstruction {
    uint32_t number = 0;  // as the verifier counts them
    uint32_t line = 0;    // of the source, by its `#line`s; 0: not known (it takes -g)
    std::string text;     // "r1 = *(u64 *)(r6 + 8)"
};

struct CompiledProgram {
    std::string name;
    uint32_t instructions = 0;
    std::vector<ListedInstruction> listing;  // where it is asked for
    UniqueFd fd;
};

struct Compiled {
    std::vector<CompiledMap> maps;
    std::vector<CompiledProgram> programs;  // in the order of the request
    std::string warnings;                   // clang's text
    double compile_ms = 0, load_ms = 0;
    std::string bundle;  // bundle.h; "" where none was asked for
};

// A program that clang or the kernel refuses.
struct CompileError {
    enum class Stage { compile, load } stage = Stage::compile;
    std::string what;                        // "the kernel refuses the program `on_call`"
    int code = 0;                            // errno, 0 if none
    std::string program;                     // the one that the kernel refused
    std::string log;                         // clang's messages, or the verifier's
    std::vector<ListedInstruction> listing;  // of the program
};

// ---- versions

struct CompilerVersions {
    std::string clang, libbcc;  // "Debian clang version 14.0.6", "0.26.0"
};

using CompileResult = std::variant<Compiled, CompileError>;

class CompilerProcess {
public:
    // `helper`: path of mlbcc-bcc. `patience`: so long an answer may take.
    static Result<CompilerProcess> start(const std::string& helper,
                                         std::chrono::seconds patience = std::chrono::minutes(10));
    CompilerProcess(CompilerProcess&& other) noexcept;
    CompilerProcess& operator=(CompilerProcess&& other) noexcept;
    ~CompilerProcess();  // ends the helper

    // An Error of these means that the helper cannot do its work, or is gone.
    Result<void> send_types(const TypesRequest& request);
    Result<std::string> receive_types();  // JSON text for rules::read_types
    Result<std::string> types(const TypesRequest& request);

    // `architecture`: "x86_64", "aarch64". One choice for each function, in order.
    Result<void> send_entries(const std::string& architecture,
                              std::span<const FunctionCode> functions);
    Result<std::vector<EntryChoice>> receive_entries();
    // The reply as it comes.
    Result<std::string> entries_text(const std::string& architecture,
                                     std::span<const FunctionCode> functions);
    Result<std::vector<EntryChoice>> entries(const std::string& architecture,
                                             std::span<const FunctionCode> functions);

    Result<void> send_compile(const CompileRequest& request);
    Result<CompileResult> receive_compile();
    Result<CompileResult> compile(const CompileRequest& request);

    Result<CompilerVersions> versions();

    void kill();  // without waiting for its end
    pid_t pid() const { return pid_; }

private:
    CompilerProcess(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}
    Result<void> send(const std::string& json, std::span<const int> fds = {});
    Result<Message> receive();
    Result<Message> receive_next();
    Error gone();
    Error late();
    int end();  // the helper's wait status

    pid_t pid_ = -1;
    UniqueFd socket_;
    size_t awaited_ = 0;           // replies that are yet to be received
    std::deque<Message> arrived_;  // replies that came before they were asked for
};

}  // namespace mlbcc::bpf
