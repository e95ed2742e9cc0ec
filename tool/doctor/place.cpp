#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "doctor/repairs.h"
#include "doctor/rows.h"

namespace mlbcc::doctor::checks {
namespace {

constexpr uint64_t kFewBytes = 100u << 20;  // traces grow by some MiB a second
constexpr const char* kTracefs = "/sys/kernel/tracing";

std::string size_text(uint64_t bytes) {
    if (bytes >= 10ull << 30) return fmt::format("{} GiB", bytes >> 30);
    return fmt::format("{} MiB", bytes >> 20);
}

std::string plural(size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string message_of(const Error& error) {
    return error.message();
}

// Of a folder of the machine that this container was not given.
std::string mounted_into(const Facts& found, const char* folder, const std::string& otherwise) {
    return run_with(found, fmt::format("-v {0}:{0}", folder), otherwise);
}

std::string host_pids(const Facts& found) {
    if (found.container == process::ContainerKind::kubernetes) return "hostPID: true";
    return run_with(found, "--pid=host", "run mlbcc outside of the pid namespace");
}

std::string library_repair(const Facts& found) {
    const std::string flag = run_with(found, "--gpus all", "");
    return "install it, or say where it is: LD_LIBRARY_PATH=FOLDER" +
           (flag.empty() ? flag : fmt::format(" (a driver's: {})", flag));
}

}  // namespace

Verdicts btf(const Facts& found) {
    if (!found.btf) return {ok("/sys/kernel/btf/vmlinux")};
    // Without it the kernel's structures are not known.
    const bool fault =
        !found.rules.works && !rights_are_missing(found) && found.abilities.map.works;
    return {
        {fault ? State::fault : State::note, "none",
         message_of(*found.btf) + "; programs cannot know the kernel's structures",
         "boot a kernel with CONFIG_DEBUG_INFO_BTF, and leave /sys/kernel/btf/vmlinux uncovered"}};
}

Verdicts headers(const Facts& found) {
    std::string where = found.headers.empty() ? "none found" : found.headers;
    return {ok(where + "; none are needed")};
}

Verdicts tracefs(const Facts& found) {
    const files::MountState& state = found.tracefs;
    // System calls and tracepoints are described there, and without BTF what is followed.
    const bool asked = found.rules.tracepoints || found.btf;
    if (!asked && !found.tracefs_readable) return {ok("none; these rules do not need it")};
    const State bad = found.rules.works ? State::note : State::fault;
    if (!state.folder.empty()) {
        if (found.tracefs_readable) return {ok(state.folder)};
        return {{bad, state.folder, "this user may not read it", rights_repair(found)}};
    }
    if (state.code == 0)
        return {{State::note, "not mounted", "a trace that needs it mounts it", ""}};
    return {
        {bad, "not mounted", fmt::format("mounting it is refused: {}", std::strerror(state.code)),
         mounted_into(found, kTracefs, fmt::format("sudo mount -t tracefs tracefs {}", kTracefs))}};
}

Verdicts container(const Facts& found) {
    return {ok(std::string(process::container_name(found.container)))};
}

Verdicts cgroup(const Facts& found) {
    if (found.cgroup == 0) return {ok("not mounted")};
    return {ok(fmt::format("version {}", found.cgroup))};
}

Verdicts pid_namespace(const Facts& found) {
    if (found.initial_pid_namespace) return {ok("the machine's own")};
    return {{State::note, "one of its own", "processes outside of it cannot be seen or traced",
             host_pids(found)}};
}

Verdicts processes(const Facts& found) {
    Verdicts verdicts;
    for (const ProcessFinding& one : found.processes) {
        Verdict verdict = ok("is seen");
        if (one.error) {
            const bool hidden = !found.initial_pid_namespace && one.error->code == 0;
            verdict = {State::fault, "cannot be traced",
                       message_of(*one.error) +
                           (hidden ? "; process ids are those of this pid namespace" : ""),
                       hidden ? host_pids(found) : one.error->help};
        }
        verdict.subject = fmt::format("process {}", one.pid);
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

Verdicts gpu_driver(const Facts& found) {
    if (!found.gpu.loaded) return {ok("not loaded")};
    return {ok(found.gpu.version.empty() ? "loaded" : found.gpu.version)};
}

Verdicts gpus(const Facts& found) {
    if (!found.gpu.devices.empty())
        return {ok(fmt::format("{}", fmt::join(found.gpu.devices, " ")))};
    if (!found.gpu.loaded) return {ok("none")};
    return {{State::note, "none", "the module is loaded, but no /dev/nvidia0 is there",
             run_with(found, "--gpus all", "sudo nvidia-modprobe -u -c 0")}};
}

// What is missing of rules that nobody named keeps no other trace from working.
State without(const Facts& found) {
    return found.rules.were_named ? State::fault : State::note;
}

Verdicts libraries(const Facts& found) {
    Verdicts verdicts;
    for (const LibraryFinding& one : found.libraries) {
        Verdict verdict = ok(fmt::format("{}", fmt::join(one.files, " ")));
        if (one.files.empty() && one.needed) {
            verdict = {without(found), "not found",
                       "it is in no folder of LD_LIBRARY_PATH, nor in the loader's cache",
                       library_repair(found)};
        } else if (one.files.empty()) {
            verdict = ok("not found; these rules do not need it");
        }
        verdict.subject = one.name;
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

Verdicts compiler(const Facts& found) {
    if (found.compiler)
        return {ok(fmt::format("libbcc {}, {}", found.compiler->libbcc, found.compiler->clang))};
    const Error& error = found.compiler.error();
    return {{State::fault, "does not start", message_of(error), error.help}};
}

Verdicts folders(const Facts& found) {
    Verdicts verdicts;
    for (const FolderFinding& one : found.folders) {
        const std::string subject = fmt::format("disk: {}", one.what);
        if (!one.space) {
            const Error& error = one.space.error();
            verdicts.push_back({State::note, "not known", message_of(error), "", subject});
            continue;
        }
        const files::DiskSpace& space = *one.space;
        Verdict verdict =
            ok(fmt::format("{} free in {}", size_text(space.free_bytes), space.folder));
        verdict.subject = subject;
        const std::string elsewhere = one.needed ? "choose another place with -o FILE" : "";
        if (!space.writable || space.free_bytes == 0) {
            verdict.state = one.needed ? State::fault : State::note;
            verdict.why = space.writable ? "there is no space" : "this user may not write there";
            verdict.repair = elsewhere;
        } else if (space.free_bytes < kFewBytes) {
            verdict.state = State::note;
            verdict.why = "a long trace may not find room";
            verdict.repair = elsewhere;
        }
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

Verdicts event_cost(const Facts& found) {
    if (!found.cost) return {{State::note, "not measured", message_of(found.cost.error()), ""}};
    const bpf::EventCost& cost = *found.cost;
    std::string text = fmt::format("{:.0f} ns for a probe and its record, in {} of them",
                                   cost.event_ns, cost.records);
    if (cost.records == cost.expected) return {ok(std::move(text))};
    return {{State::fault, std::move(text),
             fmt::format("only {} of {} probe hits were recorded: probes miss calls here",
                         cost.records, cost.expected),
             ""}};
}

Verdicts rules(const Facts& found) {
    const RulesFinding& rules = found.rules;
    std::string names = fmt::format("{}", fmt::join(rules.names, " "));
    if (rules.works) {
        return {ok(fmt::format("{}: {}, {}, and this kernel takes them", names,
                               plural(rules.rules, "rule"), plural(rules.probes, "probe")))};
    }
    std::string why = message_of(rules.error), repair = rules.error.help;
    const bool lacks_library = std::ranges::any_of(
        found.libraries, [](const LibraryFinding& one) { return one.needed && one.files.empty(); });
    if (lacks_library) repair.clear();  // the help is names that are similar
    if (rules.mistakes > 1) why += fmt::format(" (and {} more)", rules.mistakes - 1);
    return {{lacks_library ? without(found) : State::fault, names + ": would not work",
             std::move(why), std::move(repair)}};
}

}  // namespace mlbcc::doctor::checks
