#include "sink/layers.h"

#include <algorithm>
#include <set>

namespace mlbcc::sink {
namespace {

Layer& layer_named(std::vector<Layer>& layers, const std::string& type) {
    auto found = std::ranges::find(layers, type, &Layer::type);
    if (found == layers.end()) found = layers.insert(found, Layer{type, {}, {}});
    return *found;
}

const plan::SpanEmit* first_span(const std::optional<plan::RecordPlan>& record) {
    if (!record) return nullptr;
    for (const plan::Emit& emit : record->emits) {
        if (const auto* span = std::get_if<plan::SpanEmit>(&emit.what)) return span;
    }
    return nullptr;
}

}  // namespace

std::string layer_type(const plan::ProbePlan& probe) {
    if (const plan::SpanEmit* span = first_span(probe.entry)) return span->type;
    struct Visitor {
        std::string operator()(const target::UserFunction&) { return "userspace"; }
        std::string operator()(const target::KernelFunction&) { return "kernel"; }
        std::string operator()(const target::Usdt&) { return "userspace"; }
        std::string operator()(const target::Syscall&) { return "kernel"; }
        std::string operator()(const target::Tracepoint&) { return "kernel"; }
        std::string operator()(const target::Defined& at) {
            return at.definition->group == "sched" ? "scheduler" : "kernel";
        }
        std::string operator()(const target::Interval&) { return "process"; }
    };
    return probe.probe == nullptr ? "userspace" : std::visit(Visitor{}, probe.probe->at);
}

std::string library_of(const plan::ProbePlan& probe) {
    struct Visitor {
        std::string operator()(const target::UserFunction& function) { return function.soname; }
        std::string operator()(const target::KernelFunction& function) { return function.module; }
        std::string operator()(const target::Usdt& usdt) { return usdt.file; }
        std::string operator()(const target::Syscall&) { return "system calls"; }
        std::string operator()(const target::Tracepoint& point) { return point.category; }
        std::string operator()(const target::Defined& at) { return at.definition->group; }
        std::string operator()(const target::Interval&) { return ""; }
    };
    return probe.probe == nullptr ? "" : std::visit(Visitor{}, probe.probe->at);
}

std::vector<Layer> layers_of(const plan::Plan& plan) {
    std::vector<Layer> layers;
    std::set<plan::RuleId> placed;
    for (const plan::ProbePlan& probe : plan.probes) {
        Layer& layer = layer_named(layers, layer_type(probe));
        std::string library = library_of(probe);
        bool known =
            library.empty() || std::ranges::find(layer.libraries, library) != layer.libraries.end();
        if (!known) layer.libraries.push_back(library);
        for (const plan::RulePart& part : probe.parts) {
            if (!placed.insert(part.rule).second) continue;
            layer.rules.push_back(plan.rules[static_cast<uint32_t>(part.rule)].place);
        }
    }
    return layers;
}

}  // namespace mlbcc::sink
