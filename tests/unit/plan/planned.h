// Rules as text, a machine as text, prototypes: the plan that comes of them.
//
//   Planned p("on cuda:cuInit { span userspace(args) }", "cuInit@10");
//   p.entry("cuInit")  ->  "Flags=%0@48; span userspace 1"
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plan/plan.h"
#include "rules/parse_text.h"
#include "rules/prototypes.h"
#include "target/fake_kernel.h"
#include "target/fake_programs.h"

namespace mlbcc::test {

inline constexpr std::string_view kDriver =
    "cuInit@10 cuMemAlloc_v2@30 cuMemFree_v2@50 cuMemcpyHtoD_v2@60 cuModuleGetFunction@70 "
    "cuLaunchKernel@90 cuLaunchKernelEx@a0 cudaLaunchKernel@b0 cuMystery@c0";

class Planned {
public:
    explicit Planned(std::string text, std::string_view functions = kDriver,
                     Prototypes types = cuda_prototypes(), plan::Arch arch = plan::Arch::x86_64,
                     std::string_view sign = "")  // what the library imports, or a section of it
        : types_(std::move(types)), parsed_(rules::parse_rules(std::move(text))) {
        target::FakeHost host;
        host.add("libcuda.so.1", functions);
        target::add_kernel(host);
        target::add_programs(host);
        auto probes = target::resolve(parsed_.rules, types_.table(), host, parsed_.diagnostics);
        for (target::Probe& probe : probes) {
            auto* function = std::get_if<target::UserFunction>(&probe.at);
            if (function == nullptr) continue;
            function->stacks.imports(sign);
            function->stacks.has_section(sign);
        }
        plan_ = plan::make_plan(std::move(probes), parsed_.rules, types_.table(), arch,
                                parsed_.diagnostics);
    }
    Planned(const Planned&) = delete;
    Planned& operator=(const Planned&) = delete;

    std::string messages() const { return parsed_.messages(); }
    const plan::Plan& plan() const { return plan_; }
    bool has(std::string_view symbol) const { return find(symbol) != nullptr; }
    const plan::ProbePlan& probe(std::string_view symbol) const {
        static const plan::ProbePlan none;
        const plan::ProbePlan* found = find(symbol);
        return found == nullptr ? none : *found;
    }

    // What the record of one end holds and means:
    //   "%0@48; %1@56; span userspace[1] a=0 b=1"
    std::string entry(std::string_view symbol) const { return record(probe(symbol).entry); }
    std::string ret(std::string_view symbol) const { return record(probe(symbol).ret); }

    static std::string record(const std::optional<plan::RecordPlan>& record) {
        if (!record) return "no record";
        std::string out;
        for (size_t i = 0; i < record->layout.fields.size(); ++i) {
            const plan::RecordSlot& field = record->layout.fields[i];
            std::string value = record->ret_field == i ? "ret" : field.placed ? "header" : "?";
            for (const plan::Capture& one : record->captures) {
                if (one.field == i) value = tree(*one.value);
            }
            out += fmt::format("{}@{}", value, field.offset);
            out += field.size == 8 ? "; " : fmt::format("+{}; ", field.size);
        }
        for (const plan::Emit& emit : record->emits) out += emit_text(emit) + "; ";
        return out.substr(0, out.size() < 2 ? 0 : out.size() - 2);
    }

    static std::string tree(const rules::Typed& value) {
        std::string text = rules::to_text(value);
        return text.substr(0, text.rfind(':'));
    }

private:
    const plan::ProbePlan* find(std::string_view symbol) const {
        for (const plan::ProbePlan& one : plan_.probes) {
            if (one.symbol == symbol) return &one;
        }
        return nullptr;
    }
    static std::string fields(const std::vector<plan::NamedField>& named, uint32_t all) {
        std::string out;
        for (const plan::NamedField& one : named) {
            out += fmt::format(" {}={}", one.name,
                               one.late ? late(*one.late) : std::to_string(one.field));
            if (one.mask != all) out += fmt::format("/{:x}", one.mask);
        }
        return out;
    }
    // "2", of a field alone; else what is done: "(b3 2 #1)".
    static std::string late(const plan::Late& value) {
        struct Text {
            std::string operator()(const plan::LateField& n) const {
                return std::to_string(n.field);
            }
            std::string operator()(const plan::LateNumber& n) const {
                return fmt::format("#{}", n.bits);
            }
            std::string operator()(const plan::LateText& n) const {
                return fmt::format("\"{}\"", n.text);
            }
            std::string operator()(const plan::LateLearnt& n) const {
                return fmt::format("{}[{}]{}", n.table, late(*n.key), static_cast<int>(n.as));
            }
            std::string operator()(const plan::LateFromStart&) const { return "from_start"; }
            std::string operator()(const plan::LateStack&) const { return "stack"; }
            std::string operator()(const plan::LateUnread&) const { return "unread"; }
            std::string operator()(const plan::LateList& n) const {
                std::string text = "[";
                for (const plan::LatePtr& one : n.elements)
                    text += (text == "[" ? "" : ", ") + late(*one);
                return text + "]";
            }
            std::string operator()(const plan::LateNow& n) const {
                return fmt::format("now({}{})", n.gauge, n.group ? ", " + late(*n.group) : "");
            }
            std::string operator()(const plan::LateUnary& n) const {
                return fmt::format("(u{} {})", static_cast<int>(n.op), late(*n.operand));
            }
            std::string operator()(const plan::LateBinary& n) const {
                return fmt::format("(b{} {} {})", static_cast<int>(n.op), late(*n.left),
                                   late(*n.right));
            }
            std::string operator()(const plan::LateConditional& n) const {
                return fmt::format("({} ? {} : {})", late(*n.condition), late(*n.yes), late(*n.no));
            }
        };
        return std::visit(Text{}, value.node);
    }
    static std::string emit_text(const plan::Emit& emit) {
        struct Text {
            const plan::Emit& emit;
            std::string operator()(const plan::SpanEmit& e) const {
                return fmt::format("span {}{}{}", e.type, head(), fields(e.fields, emit.mask));
            }
            std::string operator()(const plan::EventEmit& e) const {
                return fmt::format("event {}.{}{}{}", e.type, e.name, head(),
                                   fields(e.fields, emit.mask));
            }
            std::string operator()(const plan::GaugeEmit& e) const {
                std::string key = e.key ? fmt::format("[{}]", late(*e.key)) : "";
                std::string text =
                    fmt::format("gauge {}{}{} op{}", e.name, head(), key, static_cast<int>(e.op));
                if (e.value) text += " " + late(*e.value);
                if (e.group) text += fmt::format(" by {}={}", e.group_name, late(*e.group));
                return e.owner ? text + " of " + late(*e.owner) : text;
            }
            std::string operator()(const plan::LearnEmit& e) const {
                std::string text = fmt::format("learn {}{} {}", e.table, head(), late(*e.key));
                if (e.end) text += ":" + late(*e.end);
                if (e.op != rules::LearnOp::set)
                    text += fmt::format(" op{}", static_cast<int>(e.op));
                if (e.takes_stack) return text + "=stack";
                return e.value ? text + "=" + late(*e.value) : text;
            }
            std::string operator()(const plan::TallyEmit& e) const {
                std::string text =
                    fmt::format("tally {}{}", static_cast<uint32_t>(e.aggregate), head());
                if (e.value) text += " " + late(*e.value);
                if (e.over) text += " over " + late(*e.over);
                for (const plan::LatePtr& one : e.by) text += " by " + late(*one);
                return text;
            }
            std::string operator()(const plan::LargestEmit& e) const {
                return fmt::format("largest {}{} {}{}", static_cast<uint32_t>(e.list), head(),
                                   late(*e.by), fields(e.fields, emit.mask));
            }
            std::string operator()(const plan::TraceEmit& e) const {
                return fmt::format("trace{} {} as {}", head(), e.address, e.name);
            }
            std::string operator()(const plan::ConditionEmit& e) const {
                return fmt::format("condition{} {}", head(), late(*e.holds));
            }
            std::string head() const {
                return fmt::format("<{:x} r{}{}{}>", emit.mask, static_cast<uint32_t>(emit.rule),
                                   emit.stack.has(rules::StackKind::user) ? " stack" : "",
                                   emit.stack.has(rules::StackKind::python) ? " python" : "");
            }
        };
        return std::visit(Text{emit}, emit.what);
    }

    Prototypes types_;
    rules::Parsed parsed_;
    plan::Plan plan_;
};

}  // namespace mlbcc::test
