#include "session/keep.h"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "files/paths.h"
#include "files/trusted_files.h"
#include "process/identity.h"
#include "session/explain.h"
#include "text/tell.h"

namespace mlbcc::session {
namespace {

constexpr size_t kMaxFile = size_t{4} << 20;

// What the process was started with, one word a line, and what its environment has.
std::string command_text() {
    std::string text;
    if (auto words = files::TrustedFiles::current().read("/proc/self/cmdline", kMaxFile)) {
        text = *words;
        std::ranges::replace(text, '\0', '\n');
    }
    text += "\nEnvironment:\n";
    for (const std::string& one : process::Caller::current().environment)
        text += one.substr(0, one.find('=')) + "\n";
    return text;
}

// The kernel's build id: of the notes that its image has, the one of owner "GNU" and type 3.
std::string build_id() {
    auto notes = files::TrustedFiles::current().read("/sys/kernel/notes", kMaxFile);
    if (!notes) return "not known: " + notes.error().message();
    auto word = [&](size_t at) {
        uint32_t value = 0;
        if (at + sizeof value <= notes->size())
            std::memcpy(&value, notes->data() + at, sizeof value);
        return size_t{value};
    };
    auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
    for (size_t at = 0; at + 12 <= notes->size();) {
        const size_t name = at + 12, text = name + padded(word(at)), size = word(at + 4);
        if (text + size > notes->size()) break;
        if (word(at + 8) == 3 && notes->compare(name, 4, std::string("GNU\0", 4)) == 0) {
            std::string id;
            for (size_t i = text; i < text + size; ++i)
                id += fmt::format("{:02x}", static_cast<unsigned char>((*notes)[i]));
            return id;
        }
        at = text + padded(size);
    }
    return "not known";
}

std::string system_text(const load::Frontend& frontend) {
    utsname names{};
    ::uname(&names);
    std::string text =
        fmt::format("mlbcc {}\nkernel {}\nbuild {}\nmachine {}\nbuild id {}\n", MLBCC_VERSION,
                    names.release, names.version, names.machine, build_id());
    if (!frontend.compiler) return text;
    auto helper = frontend.compiler->another();
    if (!helper) return text + helper.error().message() + "\n";
    auto versions = helper->versions();
    if (!versions) return text + versions.error().message() + "\n";
    return text + fmt::format("clang {}\nlibbcc {}\n", versions->clang, versions->libbcc);
}

std::string features_text(const bpf::Features& found) {
    auto yes = [](bool there) { return there ? "yes" : "no"; };
    auto bytes = [](const std::optional<uint32_t>& offset) {
        return offset ? std::to_string(*offset) : "not known";
    };
    return fmt::format("uprobe session: {}\nuprobe_multi: {}\nkprobe session: {}\n"
                       "kprobe_multi: {}\ntask_struct.pid: {}\ntask_struct.stack: {}\n"
                       "task_struct.thread.fsbase: {}\ntask_struct.seccomp.mode: {}\n"
                       "task_struct.pending.signal: {}\ntask_struct.start_time: {}\n"
                       "task_struct.utask: {}\n"
                       "uprobe_task.return_instances: {}\nuprobe_task.depth: {}\n"
                       "return_instance: {}\nends of stacks: {}\nraw tracepoints are preempted: "
                       "{}\nsched_prepare_exec: {}\nprograms set registers: "
                       "{}\n",
                       yes(found.session), yes(found.multi), yes(found.kernel_session),
                       yes(found.kernel_multi), bytes(found.task_pid_offset),
                       bytes(found.task_stack_offset), bytes(found.task_fsbase_offset),
                       bytes(found.task_seccomp_offset), bytes(found.task_pending_offset),
                       bytes(found.task_start_offset), bytes(found.task_uprobes_offset),
                       bytes(found.return_instances_offset), bytes(found.awaited_offset),
                       found.return_instance ? "known" : "not known",
                       found.stack_ends ? "known" : "not known", yes(found.preempts_points),
                       yes(found.prepares_exec), yes(found.sets_registers));
}

// "118<tab>probe_templates/entry.bpf.c:4", "124<tab>my.rules:3:5"
std::string lines_text(const load::Frontend& frontend, const codegen::LineMap& lines) {
    std::string text = "line of program.bpf.c\tfrom\n";
    for (const codegen::LineMap::Mark& mark : lines.marks()) {
        std::string from;
        for (const Span& span : mark.origin.rules) {
            const Place where = span.where();
            from += fmt::format("{}{}:{}:{}", from.empty() ? "" : " ", where.path, where.line,
                                where.column);
        }
        if (!mark.origin.template_name.empty()) {
            from = fmt::format("{}:{}", frontend.templates.path_of(mark.origin.template_name),
                               mark.origin.template_line);
        }
        text += fmt::format("{}\t{}\n", mark.line, from.empty() ? "-" : from);
    }
    return text;
}

std::string listing_text(const std::vector<bpf::ListedInstruction>& listing) {
    std::string text;
    for (const bpf::ListedInstruction& one : listing)
        text += fmt::format("{:5}: {:<50} ; line {}\n", one.number, one.text, one.line);
    return text;
}

}  // namespace

int Keeping::begin() {
    if (options_.output.keep.empty()) return 0;
    auto folder = KeepFolder::open(options_.output.keep);
    if (!folder) {
        tell(folder.error());
        return kExitUsage;
    }
    folder_.push_back(std::move(*folder));
    return 0;
}

Keeping::~Keeping() {
    keep();
}

void Keeping::keep() {
    if (folder_.empty()) return;
    keep_inputs();
    keep_plan();
    keep_outcome();
    folder_.front().finish();
    folder_.clear();
    tell_note(options_.verbosity, "what a bug report needs is in " + options_.output.keep);
}

void Keeping::keep_inputs() {
    KeepFolder& to = folder_.front();
    to.add("command.txt", "the command line, and the names of the environment's variables",
           command_text());
    to.add("system.txt", "versions of mlbcc, the kernel, clang and libbcc", system_text(frontend_));
    size_t number = 0;
    for (const auto& file : frontend_.rules.files) {
        to.add(fmt::format("rules/{}-{}", number++, files::file_name(file->path())),
               "rules as they were read: " + file->path(), file->text());
    }
    number = 0;
    for (const std::string& path : frontend_.type_headers) {
        const std::string name = fmt::format("types/{}-{}", number++, files::file_name(path));
        auto text = files::TrustedFiles::current().read(path, kMaxFile);
        if (text)
            to.add(name, "C types: " + path, *text);
        else
            tell(text.error());
    }
    for (const auto& [name, text] : frontend_.templates.texts) {
        if (!frontend_.is_users_template(name)) continue;
        to.add(fmt::format("templates/{}", files::file_name(name)),
               "template: " + frontend_.templates.path_of(name), text);
    }
    if (!frontend_.diagnostics.all().empty()) {
        to.add("messages.txt", "errors and warnings about the rules",
               frontend_.diagnostics.render());
    }
}

void Keeping::keep_plan() {
    const plan::Plan& plan = frontend_.plan;
    if (plan.probes.empty() || frontend_.entries.size() != plan.probes.size()) return;
    std::string text;
    for (const plan::ProbePlan& probe : plan.probes) text += explain(frontend_, probe);
    folder_.front().add("plan.txt", "what is read where, as `mlbcc explain` tells it",
                        text + explain_plan(frontend_));
}

void Keeping::keep_outcome() {
    KeepFolder& to = folder_.front();
    if (loader_.features())
        to.add("features.txt", "what the kernel supports", features_text(*loader_.features()));
    const codegen::Program& program = loader_.program();
    if (program.source.empty()) return;
    to.add("program.bpf.c", "the generated C", program.source);
    to.add("program.annotated.c", "the same, with the rules' text beside it",
           codegen::annotated(program, codegen::Annotated::whole));
    to.add("lines.tsv", "which lines of it are from which rule or template",
           lines_text(frontend_, program.lines));
    const auto& refused = loader_.refused();
    const bool compiles = !refused || refused->error.stage == bpf::CompileError::Stage::load;
    to.add("compiler.log", "what clang says of the C",
           compiles ? loader_.warnings() : refused->error.log);
    if (!refused) return;
    to.add("refused.txt", "why it was refused, as it was told",
           refused->told + refused->summary.message() + "\n");
    if (!compiles) return;
    to.add("verifier.log", "what the kernel's verifier says", refused->error.log);
    to.add("refused.asm", "the instructions of the program that was refused, with lines of the C",
           fmt::format("{}\n{}", refused->error.program, listing_text(refused->error.listing)));
}

}  // namespace mlbcc::session
