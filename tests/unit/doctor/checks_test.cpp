// Verdicts from made-up findings.
#include "doctor/checks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/text.h"

namespace mlbcc::doctor {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};

// A machine where everything works, and rules on functions of a library.
Facts good_machine() {
    Facts found;
    found.release = "6.18.1";
    found.architecture = "x86_64";
    found.rights.capabilities = Capabilities(kAll);
    found.settings.lockdown = process::Lockdown::none;
    found.settings.kptr_restrict = 1;
    found.settings.perf_event_paranoid = 2;
    found.settings.unprivileged_bpf_disabled = 2;
    const bpf::Attempt works{true, 0};
    found.abilities = {works, works, works, works, works, works, works,
                       works, works, works, works, works, works, works};
    found.tracefs.folder = "/sys/kernel/tracing";
    found.tracefs_readable = true;
    found.cgroup = 2;
    found.libraries = {{"libcuda.so.1", {"/lib/libcuda.so.1"}, true}};
    found.compiler = bpf::CompilerVersions{"clang version 14.0.6", "0.26.0"};
    found.folders = {{"output", files::DiskSpace{"/home/me", 50ull << 30, true}, true}};
    found.cost = bpf::EventCost{700.4, 3, 9000, 9000};
    found.rules.names = {"cuda"};
    found.rules.rules = 3;
    found.rules.probes = 70;
    found.rules.works = found.rules.functions = true;
    return found;
}

// "STATE ID: FOUND | WHY | REPAIR" of all rows that are not ok.
std::vector<std::string> remarks(const Facts& found) {
    std::vector<std::string> lines;
    for (const Row& row : judge(found)) {
        const Verdict& v = row.verdict;
        if (v.state == State::ok) continue;
        lines.push_back((v.state == State::note ? "note " : "fault ") + std::string(row.id) + ": " +
                        v.found + " | " + v.why + " | " + v.repair);
    }
    return lines;
}

using Lines = std::vector<std::string>;

void refuse_bpf(Facts& found, int code) {
    const bpf::Attempt no{false, code};
    found.abilities = {no, no, no, no, no, no, no, no, no, no, no, no, {true, 0}};
    found.abilities.perf_events = {true, 0};
    found.cost = Error{"cannot make a ring buffer", code};
    found.rules.works = false;
    found.rules.error = Error{"cannot make a BPF map", code};
}

const Row& row(const std::vector<Row>& rows, std::string_view id) {
    return *std::ranges::find_if(rows, [&](const Row& one) { return one.id == id; });
}

TEST(Doctor, FindsNothingOnAGoodMachine) {
    const Facts found = good_machine();
    EXPECT_EQ(remarks(found), Lines{});
    EXPECT_TRUE(would_work(judge(found)));
}

TEST(Doctor, AKernelNewerThanAnyThatWasTriedIsANote) {
    Facts found = good_machine();
    found.release = "7.3.9";
    EXPECT_EQ(remarks(found), Lines{});
    found.release = "8.1.0-rc2";
    EXPECT_EQ(remarks(found),
              Lines{"note kernel: Linux 8.1.0-rc2 x86_64 | newer than any that mlbcc "
                    "was tested on: the last is 7.3 | "});
    EXPECT_TRUE(would_work(judge(found)));
}

TEST(Doctor, SaysHowTheKernelPreempts) {
    Facts found = good_machine();
    const auto said = [&] { return row(judge(found), "preemption").verdict.found; };
    found.preemption = {false, "none"};
    EXPECT_EQ(said(), "none");
    found.preemption = {true, "full"};
    EXPECT_EQ(said(), "full; programs of probes are protected from it");
    found.preemption = {true, ""};
    EXPECT_EQ(said(),
              "chosen at boot; it cannot be read here; programs of probes are protected from it");
    found.preemption = {true, "lazy"};
    found.preempts_points = true;
    EXPECT_EQ(said(),
              "lazy; programs of probes are protected from it, system calls are followed by "
              "perf events");
    found.tracefs_readable = false;
    EXPECT_EQ(said(), "lazy");
    EXPECT_TRUE(would_work(judge(found)));
}

TEST(Doctor, NamesTheMissingRights) {
    Facts found = good_machine();
    refuse_bpf(found, EPERM);
    found.rights.capabilities = {};
    found.rights.user = 1000;
    const std::vector<Row> rows = judge(found);
    EXPECT_FALSE(would_work(rows));
    const Verdict& rights = row(rows, "capabilities").verdict;
    EXPECT_EQ(rights.state, State::fault);
    EXPECT_EQ(rights.why, "CAP_BPF and CAP_PERFMON are missing");
    EXPECT_EQ(rights.repair, "run it with sudo: sudo mlbcc ...");
    EXPECT_EQ(row(rows, "bpf").verdict.state, State::note);
    EXPECT_EQ(row(rows, "bpf").verdict.why, "see capabilities");
    EXPECT_EQ(row(rows, "uprobe_multi").verdict.found, "not tried: bpf(2) is refused");
}

TEST(Doctor, SaysRepairsInTheWordsOfTheContainer) {
    using Kind = process::ContainerKind;
    Facts found = good_machine();
    found.rights.capabilities = {};
    const std::pair<Kind, const char*> repairs[] = {
        {Kind::none, "give the process CAP_BPF and CAP_PERFMON"},
        {Kind::docker, "docker run --cap-add BPF --cap-add PERFMON"},
        {Kind::podman, "podman run --cap-add BPF --cap-add PERFMON"},
        {Kind::kubernetes, "securityContext: {runAsUser: 0, capabilities: {add: [BPF, PERFMON]}}"}};
    for (const auto& [kind, repair] : repairs) {
        found.container = kind;
        EXPECT_EQ(row(judge(found), "capabilities").verdict.repair, repair);
    }
}

TEST(Doctor, NamesTheSeccompFilter) {
    Facts found = good_machine();
    found.container = process::ContainerKind::docker;
    found.rights.has_seccomp_filter = true;
    EXPECT_EQ(row(judge(found), "seccomp").verdict.found, "a filter that lets bpf(2) pass");
    for (const int code : {EPERM, ENOSYS}) {
        refuse_bpf(found, code);
        const std::vector<Row> rows = judge(found);
        EXPECT_EQ(row(rows, "seccomp").verdict.state, State::fault);
        EXPECT_EQ(row(rows, "seccomp").verdict.why,
                  "a seccomp filter refuses the system call, although the capabilities are there");
        EXPECT_EQ(row(rows, "seccomp").verdict.repair,
                  "docker run --security-opt seccomp=unconfined");
        EXPECT_EQ(row(rows, "bpf").verdict.why, "see seccomp");
    }
}

TEST(Doctor, TellsOtherRefusalsApart) {
    Facts found = good_machine();
    refuse_bpf(found, ENOSYS);
    EXPECT_EQ(row(judge(found), "bpf").verdict.repair, "boot a kernel with CONFIG_BPF_SYSCALL");
    refuse_bpf(found, EPERM);
    found.rights.first_user_namespace = false;
    EXPECT_EQ(row(judge(found), "bpf").verdict.repair,
              "run it outside of the user namespace, not in a rootless container");
    found.rights.first_user_namespace = true;
    found.settings.lockdown = process::Lockdown::confidentiality;
    EXPECT_EQ(row(judge(found), "bpf").verdict.why, "the kernel is locked down");
    EXPECT_EQ(row(judge(found), "bpf").verdict.state, State::fault);
}

TEST(Doctor, ALockDownIsAFaultWhereItBites) {
    Facts found = good_machine();
    found.settings.lockdown = process::Lockdown::confidentiality;
    EXPECT_EQ(row(judge(found), "lockdown").verdict.state, State::note);
    found.abilities.kernel_memory = {false, EPERM};
    found.rules.works = false;
    const Verdict verdict = row(judge(found), "lockdown").verdict;
    EXPECT_EQ(verdict.state, State::fault);
    EXPECT_EQ(verdict.repair, "boot with lockdown=integrity, or without Secure Boot");
}

TEST(Doctor, TracefsMattersToRulesThatNeedIt) {
    Facts found = good_machine();
    found.tracefs = {"", EPERM};
    found.tracefs_readable = false;
    EXPECT_EQ(row(judge(found), "tracefs").verdict.state, State::ok);
    found.rules.tracepoints = true;
    found.rules.works = false;
    found.rules.error = Error{"tracefs is not mounted"};
    EXPECT_EQ(remarks(found),
              (Lines{"fault tracefs: not mounted | mounting it is refused: Operation not permitted "
                     "| sudo mount -t tracefs tracefs /sys/kernel/tracing",
                     "fault rules: cuda: would not work | tracefs is not mounted | "}));
    found.container = process::ContainerKind::podman;
    EXPECT_EQ(row(judge(found), "tracefs").verdict.repair,
              "podman run -v /sys/kernel/tracing:/sys/kernel/tracing");
}

TEST(Doctor, BtfMattersWhereRulesFailWithoutIt) {
    Facts found = good_machine();
    found.btf = Error{"there is no /sys/kernel/btf/vmlinux"};
    EXPECT_EQ(row(judge(found), "btf").verdict.state, State::note);
    EXPECT_EQ(row(judge(found), "uprobe_session").verdict.found, "works, but is not used");
    found.rules.works = false;
    EXPECT_EQ(row(judge(found), "btf").verdict.state, State::fault);
    EXPECT_EQ(row(judge(found), "btf").verdict.repair,
              "boot a kernel with CONFIG_DEBUG_INFO_BTF, and leave /sys/kernel/btf/vmlinux "
              "uncovered");
}

TEST(Doctor, SaysWhatEndsWithoutReturnProbesCost) {
    Facts found = good_machine();
    EXPECT_EQ(row(judge(found), "ret").verdict.found, "done by the probes' programs");
    found.abilities.registers = {false, EACCES};
    EXPECT_EQ(row(judge(found), "ret").verdict.found,
              "single-stepped, which costs more than a return probe");
    EXPECT_EQ(remarks(found), Lines{});
    found.architecture = "aarch64";
    EXPECT_EQ(row(judge(found), "ret").verdict.found, "emulated by the kernel");
}

TEST(Doctor, KprobesMatterToRulesOnTheKernel) {
    Facts found = good_machine();
    found.abilities.kprobe = found.abilities.kprobe_multi = {false, ENOENT};
    EXPECT_EQ(remarks(found), Lines{});
    found.rules.kernel_functions = true;
    EXPECT_EQ(row(judge(found), "kprobe").verdict.state, State::note);
    found.rules.needs_kernel_functions = true;
    EXPECT_EQ(row(judge(found), "kprobe").verdict.state, State::fault);
    EXPECT_EQ(row(judge(found), "kprobe").verdict.repair, "boot a kernel with CONFIG_KPROBES");
    found.abilities.kprobe_multi = {true, 0};
    EXPECT_EQ(row(judge(found), "kprobe").verdict.state, State::note);
}

TEST(Doctor, UprobesByPerfEventsAskForMoreRights) {
    Facts found = good_machine();
    found.abilities.uprobe = {false, EACCES};
    EXPECT_EQ(remarks(found), Lines{});
    found.abilities.uprobe_multi = found.abilities.uprobe_session = {false, EINVAL};
    found.rights.capabilities = Capabilities(kAll & ~(uint64_t{1} << 21));
    const Verdict verdict = row(judge(found), "uprobe").verdict;
    EXPECT_EQ(verdict.state, State::fault);
    EXPECT_EQ(verdict.repair, "give the process CAP_SYS_ADMIN");
}

TEST(Doctor, ALibraryThatIsNeeded) {
    Facts found = good_machine();
    found.container = process::ContainerKind::docker;
    found.libraries[0].files.clear();
    found.rules.works = false;
    found.rules.mistakes = 2;
    found.rules.error = Error{"cuda.rules:3: library was not found", 0, "names that are similar"};
    EXPECT_EQ(remarks(found),
              (Lines{"fault library: not found | it is in no folder of LD_LIBRARY_PATH, nor in the "
                     "loader's cache | install it, or say where it is: LD_LIBRARY_PATH=FOLDER (a "
                     "driver's: docker run --gpus all)",
                     "fault rules: cuda: would not work | cuda.rules:3: library was not found (and "
                     "1 more) | "}));
    found.libraries[0].needed = false;
    EXPECT_EQ(row(judge(found), "library").verdict.state, State::ok);
    EXPECT_EQ(row(judge(found), "library").title, "libcuda.so.1");
}

TEST(Doctor, ProcessesOutsideOfThePidNamespace) {
    Facts found = good_machine();
    found.container = process::ContainerKind::docker;
    found.initial_pid_namespace = false;
    found.processes = {{70, {}}, {4711, Error{"there is no process 4711"}}};
    EXPECT_EQ(
        remarks(found),
        (Lines{"note pid_namespace: one of its own | processes outside of it cannot be seen or "
               "traced | docker run --pid=host",
               "fault process: cannot be traced | there is no process 4711; process ids are those "
               "of this pid namespace | docker run --pid=host"}));
}

TEST(Doctor, GpusThatAContainerWasNotGiven) {
    Facts found = good_machine();
    EXPECT_EQ(row(judge(found), "nvidia").verdict.found, "not loaded");
    found.gpu = {true, "535.261.03", {}};
    found.container = process::ContainerKind::docker;
    EXPECT_EQ(remarks(found), (Lines{"note gpu: none | the module is loaded, but no /dev/nvidia0 "
                                     "is there | docker run --gpus all"}));
    found.gpu.devices = {"/dev/nvidia0", "/dev/nvidia1"};
    EXPECT_EQ(row(judge(found), "gpu").verdict.found, "/dev/nvidia0 /dev/nvidia1");
    EXPECT_EQ(row(judge(found), "nvidia").verdict.found, "535.261.03");
}

TEST(Doctor, FoldersForTheTrace) {
    Facts found = good_machine();
    found.folders = {{"output", files::DiskSpace{"/ro", 1 << 20, false}, true},
                     {"temporary files", files::DiskSpace{"/tmp", 0, true}, false}};
    EXPECT_EQ(remarks(found), (Lines{"fault disk: 1 MiB free in /ro | this user may not write "
                                     "there | choose another place with -o FILE",
                                     "note disk: 0 MiB free in /tmp | there is no space | "}));
    EXPECT_EQ(row(judge(found), "disk").title, "disk: output");
}

TEST(Doctor, ProbesThatMissCalls) {
    Facts found = good_machine();
    found.cost = bpf::EventCost{700.4, 3, 9000, 8990};
    EXPECT_EQ(remarks(found),
              (Lines{"fault event_cost: 700 ns for a probe and its record, in 8990 of them | only "
                     "8990 of 9000 probe hits were recorded: probes miss calls here | "}));
}

TEST(Doctor, AHelperThatDoesNotStart) {
    Facts found = good_machine();
    found.compiler = Error{"the compiler helper ended unexpectedly (exit status 127)", 0,
                           "a library that it needs is missing: libbcc, libclang or LLVM"};
    EXPECT_EQ(
        remarks(found),
        (Lines{"fault compiler: does not start | the compiler helper ended unexpectedly (exit "
               "status 127) | a library that it needs is missing: libbcc, libclang or LLVM"}));
}

TEST(Doctor, Settings) {
    Facts found = good_machine();
    found.release = "5.10.0-30-amd64";
    found.settings.kptr_restrict = 2;
    EXPECT_EQ(remarks(found),
              (Lines{"note kernel: Linux 5.10.0-30-amd64 x86_64 | mlbcc is made for Linux 5.15 and "
                     "later | ",
                     "note kptr_restrict: 2 | the kernel hides the addresses of its functions: "
                     "kernel stacks have no names | sudo sysctl kernel.kptr_restrict=1"}));
}

TEST(DoctorText, HasColoursOnlyIfAsked) {
    Facts found = good_machine();
    found.libraries.clear();
    found.rules.works = false;
    found.rules.error = Error{"because", 0, "do this"};
    const std::vector<Row> rows = judge(found);
    const std::string plain = doctor_text(found, rows, false);
    EXPECT_TRUE(plain.starts_with("ok     kernel                 Linux 6.18.1 x86_64\n")) << plain;
    EXPECT_TRUE(plain.ends_with("fault  rules                  cuda: would not work\n"
                                "                              because\n"
                                "                              repair: do this\n"
                                "\n"
                                "tracing works here, but not with cuda: because\n"))
        << plain;
    EXPECT_EQ(plain.find('\033'), std::string::npos);
    found.compiler = Error{"there is none"};
    EXPECT_TRUE(doctor_text(found, judge(found), false)
                    .ends_with("a trace with cuda would not work here: 2 faults\n"));
    const std::string colored = doctor_text(found, rows, true);
    EXPECT_NE(colored.find("\033[1;31mfault \033[0m rules"), std::string::npos) << colored;
}

TEST(DoctorText, AsJson) {
    Facts found = good_machine();
    std::vector<Row> rows{{"bpf", "bpf(2)", {State::fault, "refused", "a \"why\"", "a repair"}}};
    const std::string expected = R"json({
 "schema": 1,
 "tool": "mlbcc )json" MLBCC_VERSION R"json(",
 "rules": [
  "cuda"
 ],
 "works": false,
 "event_ns": 700,
 "checks": [
  {
   "id": "bpf",
   "title": "bpf(2)",
   "state": "fault",
   "found": "refused",
   "why": "a \"why\"",
   "repair": "a repair"
  }
 ]
}
)json";
    EXPECT_EQ(doctor_json(found, rows), expected);
    found.cost = Error{"not here"};
    EXPECT_NE(doctor_json(found, {}).find("\"event_ns\": null"), std::string::npos);
    EXPECT_NE(doctor_json(found, {}).find("\"works\": true"), std::string::npos);
}

}  // namespace
}  // namespace mlbcc::doctor
