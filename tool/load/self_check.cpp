#include "load/self_check.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "bpf/kernel.h"
#include "process/proc.h"

namespace mlbcc::load {
namespace {

std::optional<uint32_t> place_of(const rules::RecordType& record, std::string_view field) {
    const auto found = std::ranges::find(record.fields, field, &rules::RecordField::name);
    if (found == record.fields.end()) return std::nullopt;
    return found->offset;
}

// Where rules will read them.
std::optional<bpf::TaskPlaces> places_of(const rules::TypeTable& types) {
    const Result<rules::TypeId>& task = types.task();
    if (!task) return std::nullopt;
    const auto* pointer = std::get_if<rules::PointerType>(&types[*task].kind);
    const auto* record =
        pointer == nullptr ? nullptr : std::get_if<rules::RecordType>(&types[pointer->to].kind);
    if (record == nullptr) return std::nullopt;
    const auto tgid = place_of(*record, "tgid");
    const auto parent = place_of(*record, "real_parent");
    if (!tgid || !parent) return std::nullopt;
    return bpf::TaskPlaces{*tgid, *parent};
}

struct Truth {
    uint32_t tgid = 0;
    std::optional<uint32_t> parent;  // not known in a pid namespace: its number there is another
};

Error differs(const kernel::HeaderChoice& used, const bpf::OwnTask& read, const Truth& truth) {
    const bool is_folder = used.headers.kind == kernel::HeaderKind::folder;
    const std::string parent = truth.parent ? fmt::format(", child of {}", *truth.parent) : "";
    return Error{
        fmt::format("{} ({}) does not describe the running kernel ({}): this process is {}{}, and "
                    "is read as {}, child of {}",
                    used.headers.path, used.headers.version,
                    kernel::HeaderPlaces::current().release, truth.tgid, parent, read.tgid,
                    read.parent),
        0,
        is_folder ? "leave --headers out: BTF or matching headers are then used"
                  : "`mlbcc headers` shows what else there is; --headers DIR names other headers"};
}

}  // namespace

Result<void> check_structures(const Frontend& frontend, Steps& steps) {
    const Structures& structures = frontend.structures;
    const bool are_read = frontend.plan.asks_for_task || structures.are_included;
    if (!are_read || !structures.chosen) return {};
    const std::optional<bpf::TaskPlaces> at = places_of(frontend.types);
    if (!at) return {};
    const Result<process::PidNamespace> own = process::own_pid_namespace();
    const auto parent_before = static_cast<uint32_t>(::getppid());
    const Result<bpf::OwnTask> read = bpf::read_own_task(*at);
    if (!read) {
        steps.tell("the kernel's structures are not checked: " + read.error().message());
        return {};
    }
    Truth truth{read->truth, {}};
    const auto parent = static_cast<uint32_t>(::getppid());
    if (own && own->is_initial && parent == parent_before) truth.parent = parent;
    const bool is_right =
        read->tgid == truth.tgid && (!truth.parent || read->parent == truth.parent);
    steps.done("check the kernel's structures");
    if (is_right) return {};
    return differs(*structures.chosen, *read, truth);
}

}  // namespace mlbcc::load
