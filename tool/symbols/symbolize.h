// User stacks as text: what the kernel copied of a stack -> "libffi.so.8:ffi_call+0x123" for each
// caller. Without a name for the function it is "libffi.so.8+0x7a31" (the address in the file's own
// terms), without a file "0x7f2a00001234"; "..." stands for callers that could not be reached, with
// the reason behind it where there is one: "... (beyond the copied stack)".
//
// A process may be gone before its events are written, so stacks are turned into text as soon as
// their record arrives. Records of several CPUs arrive out of order around an exec: each process
// has an image for each program that it ran, and a new one where a library came to lie where
// another was. A record finds its own by its time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/kernel_frames.h"
#include "symbols/made_code.h"
#include "symbols/mappings.h"
#include "symbols/maps_log.h"
#include "symbols/modules.h"
#include "symbols/stacks.h"
#include "symbols/unwind.h"

namespace mlbcc::symbols {

// "app.py:main", of a frame in a plan::PythonStack.
using PythonNames = std::function<std::optional<std::string>(uint64_t)>;

class Symbolizer {
public:
    Symbolizer(plan::Arch arch, StackTable& stacks, SymbolRoots roots, PythonNames names = {},
               KernelNames kernel_names = {})
        : stacks_(stacks), unwinder_(arch), modules_(std::move(roots)),
          python_names_(std::move(names)), kernel_(std::move(kernel_names)) {}

    // The stack that a process had at `time_ns`: what the kernel did for it, what ran above its
    // innermost Python function, and from there on the Python functions. Null if there is none of
    // them, or the table of stacks is full. It is to be shown at `shown_ns`; nothing: at that time.
    Stack* stack(uint32_t pid, uint64_t time_ns, const std::optional<UserStackCopy>& user,
                 const plan::PythonStack& python, const KernelStackCopy& kernel = {},
                 std::optional<uint64_t> shown_ns = {});

    // The symbol of the function that begins at an address of a process, as its program is now.
    std::optional<std::string> function_at(uint32_t pid, uint64_t address);

    // A process maps something, and has what its parent has mapped, told before any stack in it.
    void mapped(SeenMapping mapping) { log_.mapped(std::move(mapping)); }
    void inherited(uint32_t parent, uint32_t child) { log_.forked(parent, child); }

    // A process may be in another root than those seen so far.
    void found(uint32_t pid, uint64_t time_ns) { modules_.held_roots().see(pid, time_ns); }
    // A process changes, told as soon as it is known ...
    void forked(uint32_t parent, uint32_t child, uint64_t time_ns);
    void executed(uint32_t pid, uint64_t time_ns);
    // ... and once no record from before can follow.
    void executed_long_ago(uint32_t pid, uint64_t time_ns);
    void exited_long_ago(uint32_t pid, uint64_t time_ns);

    // A program that makes code may write its names only when it ends. What is to be shown from
    // this time on has to wait for them: until its process exits, for a second at most.
    void exited(uint32_t pid);
    std::optional<uint64_t> awaits_names_from(uint64_t now_ns);
    void await_no_names();  // now, whatever may come

private:
    struct Image {
        uint32_t id = 0;
        uint64_t since_ns = 0, first_stack_ns = 0;
        bool loaded = false;
        std::vector<CodeMapping> maps;
        Backoff maps_backoff;
        std::shared_ptr<MadeCode> made = std::make_shared<MadeCode>();  // of the program
        bool was_awaited = false;
        std::unordered_map<uint64_t, std::string> frames;  // by address
    };
    struct Finder;
    struct Awaited {
        uint32_t pid = 0, image = 0;
        uint64_t since_ns = 0, shown_ns = 0;
        std::vector<HeldStack> stacks;
    };

    void add_python(const plan::PythonStack& python);

    static size_t place_at(const std::deque<Image>& images, uint64_t time_ns);
    Image& image_at(uint32_t pid, uint64_t time_ns);
    bool is_renamed(Image& image, uint32_t pid, uint64_t time_ns);
    Image& new_image(uint32_t pid, uint64_t time_ns);
    Image& image_since(std::deque<Image>& images, size_t at, uint32_t pid, uint64_t time_ns);
    void load(Image& image, uint32_t pid);
    void add_seen(Image& image, uint32_t pid);
    CodeMapping* mapping_of(Image& image, uint32_t pid, uint64_t address);
    std::string frame(Image& image, uint32_t pid, uint64_t address);
    std::optional<std::string> describe(Image& image, uint32_t pid, uint64_t address);
    std::optional<std::string> describe_made_code(Image& image, uint32_t pid,
                                                  const CodeMapping* mapping, uint64_t address);
    MadeCode::Owner owner(const Image& image, uint32_t pid) const;
    Awaited* awaited_for(Image& image, uint32_t pid, uint64_t time_ns);
    void name(const Awaited& awaited);
    std::string unnamed(Image& image, uint32_t pid, uint64_t address);
    const Module* module_of(uint32_t pid, CodeMapping* mapping);

    StackTable& stacks_;
    MapsLog log_;
    Unwinder unwinder_;
    Modules modules_;
    PythonNames python_names_;
    KernelFrames kernel_;
    uint32_t last_image_ = 0;
    std::unordered_map<uint32_t, std::deque<Image>> images_;  // by pid, oldest first
    std::vector<Awaited> awaited_;
    std::vector<uint64_t> addresses_;
    std::vector<std::string> frames_;
    bool lacks_names_ = false;  // the stack at hand, of code that its program has made
};

}  // namespace mlbcc::symbols
