#include "load/features.h"

#include <algorithm>
#include <span>
#include <vector>

#include "kernel/kernel_release.h"

namespace mlbcc::load {
namespace {

// Of struct `record`, or of one that is a member of it, behind it: "thread", "fsbase".
std::optional<uint32_t> offset_of(const kernel::BtfImage& image, uint32_t record,
                                  const std::vector<std::string>& path) {
    uint64_t bit = 0;
    for (const std::string& name : path) {
        const std::vector<kernel::BtfMember> members = kernel::members_of(image, record);
        const auto found = std::ranges::find(members, name, &kernel::BtfMember::name);
        if (found == members.end()) return std::nullopt;
        bit += found->bit;
        record = found->type;
    }
    return static_cast<uint32_t>(bit / 8);
}

// A `ret` is emulated by the kernel itself elsewhere, and a program's registers are other ones.
std::optional<codegen::ReturnPlaces> return_places([[maybe_unused]] kernel::KernelBtf& btf) {
#if defined(__x86_64__)
    const auto threads = btf.type("uprobe_task");
    const auto uprobe = btf.type("uprobe");
    const auto task = btf.type("task_struct");
    if (!threads || !uprobe || !task) return std::nullopt;
    auto in_uprobe = [&](const char* name) {
        return offset_of(*uprobe->image, uprobe->id, {name});
    };
    const auto active = offset_of(*threads->image, threads->id, {"auprobe"});
    const auto arch = in_uprobe("arch"), consumers = in_uprobe("consumers"),
               offset = in_uprobe("offset");
    if (!active || !arch || !consumers || !offset) return std::nullopt;
    auto from_arch = [&](uint32_t bytes) {
        return static_cast<int32_t>(bytes) - static_cast<int32_t>(*arch);
    };
    return codegen::ReturnPlaces{*active, from_arch(*consumers), from_arch(*offset),
                                 offset_of(*task->image, task->id, {"thread", "features"})};
#else
    return std::nullopt;
#endif
}

std::optional<codegen::ReturnInstance> return_instance(kernel::KernelBtf& btf) {
    const auto type = btf.type("return_instance");
    if (!type) return std::nullopt;
    const auto next = offset_of(*type->image, type->id, {"next"}),
               sp = offset_of(*type->image, type->id, {"stack"}),
               address = offset_of(*type->image, type->id, {"orig_ret_vaddr"});
    if (!next || !sp || !address) return std::nullopt;
    return codegen::ReturnInstance{*next, *sp, *address};
}

std::optional<codegen::StackEnds> stack_ends(kernel::KernelBtf& btf,
                                             std::optional<uint32_t> fsbase) {
    const auto task = btf.type("task_struct"), memory = btf.type("mm_struct");
    if (!task || !memory) return std::nullopt;
    const auto mm = offset_of(*task->image, task->id, {"mm"}),
               start = offset_of(*memory->image, memory->id, {"start_stack"});
    if (!mm || !start) return std::nullopt;
    auto pointer = fsbase;  // x86-64
    if (!pointer) pointer = offset_of(*task->image, task->id, {"thread", "uw", "tp_value"});
    return codegen::StackEnds{*mm, *start, pointer};
}

// x86-64 has it in a variable of each CPU, others in the task.
void find_preempt_count(kernel::KernelBtf& btf, bpf::TypePlaces& types) {
    if (!kernel::read_preemption().possible) return types.task_preempt_offset.reset();
    if (types.task_preempt_offset) return;
    if (const auto kernel = btf.image(""))
        types.preempt_count = (*kernel)->find(BTF_KIND_VAR, "__preempt_count");
}

bpf::TypePlaces kernel_types() {
    bpf::TypePlaces types;
    Result<kernel::KernelBtf> btf = kernel::KernelBtf::open();
    if (!btf) return types;
    if (const auto task = btf->type("task_struct")) {
        types.task_pid_offset = offset_of(*task->image, task->id, {"pid"});
        types.task_stack_offset = offset_of(*task->image, task->id, {"stack"});
        types.task_seccomp_offset = offset_of(*task->image, task->id, {"seccomp", "mode"});
        types.task_pending_offset = offset_of(*task->image, task->id, {"pending", "signal"});
        types.task_start_offset = offset_of(*task->image, task->id, {"start_time"});
        types.task_uprobes_offset = offset_of(*task->image, task->id, {"utask"});
        types.task_preempt_offset =
            offset_of(*task->image, task->id, {"thread_info", "preempt_count"});
        types.task_status_offset = offset_of(*task->image, task->id, {"thread_info", "status"});
        // x86-64 has one
        types.task_fsbase_offset = offset_of(*task->image, task->id, {"thread", "fsbase"});
    }
    if (const auto uprobes = btf->type("uprobe_task")) {
        types.return_instances_offset =
            offset_of(*uprobes->image, uprobes->id, {"return_instances"});
        types.awaited_offset = offset_of(*uprobes->image, uprobes->id, {"depth"});
    }
    types.return_instance = return_instance(*btf);
    types.return_places = return_places(*btf);
    types.stack_ends = stack_ends(*btf, types.task_fsbase_offset);
    if (const auto kernel = btf->image(""))
        types.prepares_exec =
            (*kernel)->find(BTF_KIND_TYPEDEF, "btf_trace_sched_prepare_exec").has_value();
    find_preempt_count(*btf, types);
    types.session_cookie = callable_with_context(*btf, "bpf_session_cookie");
    types.session_is_return = callable_with_context(*btf, "bpf_session_is_return");
    return types;
}

}  // namespace

uint32_t callable_with_context(kernel::KernelBtf& btf, const std::string& name) {
    const auto found = btf.function("", name);
    if (!found) return 0;
    const kernel::BtfImage& image = *found->image;
    const std::span<const btf_param> params = image.params(*image.type(found->proto));
    if (params.empty()) return found->id;
    const btf_type* first = image.type(image.resolve(params.front().type));
    const bool pointer = first != nullptr && kernel::kind_of(*first) == BTF_KIND_PTR;
    return params.size() == 1 && pointer ? found->id : 0;
}

bpf::Features find_features() {
    return bpf::find_features(kernel_types());
}

}  // namespace mlbcc::load
