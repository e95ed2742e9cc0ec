#include "session/explain.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "account/process_looks.h"
#include "process/clock.h"
#include "sink/format.h"

namespace mlbcc::session {
namespace {

std::string register_name(plan::Arch arch, uint32_t index, bool of_go) {
    static constexpr const char* kX86[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    static constexpr const char* kGo[] = {"rax", "rbx", "rcx", "rdi", "rsi", "r8"};
    if (arch == plan::Arch::arm64) return fmt::format("x{}", index);
    return index < 6 ? (of_go ? kGo : kX86)[index] : "?";
}

std::string stack_name(plan::Arch arch, uint32_t index) {
    return arch == plan::Arch::x86_64 ? fmt::format("[rsp+{}]", 8 + 8 * index)
                                      : fmt::format("[sp+{}]", 8 * index);
}

std::string slot_text(plan::Arch arch, const plan::ArgSlot& slot, bool of_go) {
    switch (slot.kind) {
    case plan::ArgSlot::Kind::none: return "not readable";
    case plan::ArgSlot::Kind::reg: return register_name(arch, slot.index, of_go);
    case plan::ArgSlot::Kind::stack: return stack_name(arch, slot.index);
    case plan::ArgSlot::Kind::pointer:
        return fmt::format("behind {}", register_name(arch, slot.index, of_go));
    case plan::ArgSlot::Kind::stack_pointer:
        return fmt::format("behind {}", stack_name(arch, slot.index));
    }
    return "";
}

std::string source(const rules::Typed& value) {
    return std::string(value.span.text());
}

std::string place_of(const load::Frontend& frontend, const plan::ProbePlan& probe, uint32_t param) {
    if (const auto* usdt = std::get_if<target::Usdt>(&probe.probe->at)) {
        return usdt->probe.arguments[param].text;
    }
    if (probe.kind == plan::ProbeKind::interval) {
        return std::string(
            target::source_text(target::kProcessFields.at(target::field_of(param)).source));
    }
    plan::ArgSlot slot = plan::locate_argument(param, frontend.plan.arch);
    if (param < probe.slots.size()) slot = probe.slots[param].front();
    return slot_text(frontend.plan.arch, slot, probe.is_of_go());
}

// "bytesize (rsi)", "*dptr (read through dptr)"
std::string describe(const load::Frontend& frontend, const plan::ProbePlan& probe,
                     const rules::TypedPtr& value, bool at_return) {
    const rules::Typed* leaf = value.get();
    const auto* element = std::get_if<rules::LoadNode>(&leaf->node);
    if (element != nullptr && value->span.file == nullptr) leaf = element->pointer.get();
    if (const auto* text = std::get_if<rules::TextNode>(&leaf->node)) leaf = text->pointer.get();
    std::string name = source(*value);
    std::vector<std::string> where;
    if (const auto* param = std::get_if<rules::ParamLeaf>(&leaf->node)) {
        where.push_back(place_of(frontend, probe, param->index));
        bool named = probe.signature != nullptr && param->index < probe.signature->params.size();
        if (name.empty())
            name = named ? probe.signature->params[param->index].name
                         : fmt::format("arg{}", param->index);
    }
    if (std::holds_alternative<rules::TextNode>(value->node)) where.emplace_back("text");
    bool kept = at_return && value->stage == rules::Stage::entry && !rules::always_known(*value);
    if (kept) where.emplace_back("kept from entry");
    return where.empty() ? name : fmt::format("{} ({})", name, fmt::join(where, ", "));
}

std::string describe_record(const load::Frontend& frontend, const plan::ProbePlan& probe,
                            const plan::RecordPlan& record, bool at_return) {
    std::vector<std::string> parts;
    for (const plan::Capture& capture : record.captures) {
        std::string part = describe(frontend, probe, capture.value, at_return);
        // Of an array each element is a value.
        if (parts.empty() || part != parts.back()) parts.push_back(std::move(part));
    }
    if (record.ret_field && std::ranges::find(parts, "ret") == parts.end())
        parts.emplace_back("ret");
    if (record.layout.has(rules::StackKind::python)) parts.emplace_back("Python functions");
    if (record.layout.has(rules::StackKind::kernel)) parts.emplace_back("kernel stack");
    if (record.layout.has(rules::StackKind::user)) parts.emplace_back("user stack");
    return fmt::format("  {:<8}record of {} bytes: {}\n", at_return ? "return" : "entry",
                       record.layout.size,
                       parts.empty() ? "no values" : fmt::format("{}", fmt::join(parts, ", ")));
}

void describe_part(const load::Frontend& frontend, const plan::RulePart& part, std::string& out) {
    const std::string& place = frontend.plan.rules[static_cast<uint32_t>(part.rule)].place;
    for (const rules::TypedPtr& one : part.entry_where) {
        out += fmt::format("  where   {} is decided at entry ({})\n", source(*one), place);
    }
    for (const rules::TypedPtr& one : part.return_where) {
        out += fmt::format("  where   {} is decided at return ({})\n", source(*one), place);
    }
    if (part.sample > 1) out += fmt::format("  sample  one call in {} ({})\n", part.sample, place);
}

std::string describe_usdt(const target::Usdt& at) {
    return fmt::format("place {} of {}, at {:#x} in {}{}", at.place + 1, at.places, at.probe.offset,
                       at.path, at.probe.semaphore != 0 ? ", with a semaphore" : "");
}

// What a look takes, found by looking at mlbcc itself: the median, in ns.
uint64_t time_of_look(uint64_t fields) {
    constexpr size_t kLooks = 101;
    process::ProcessReader reader;
    std::vector<uint64_t> times;
    for (size_t i = 0; i < kLooks; ++i) {
        uint64_t before = process::monotonic_ns();
        (void)reader.read(::getpid(), fields);
        times.push_back(process::monotonic_ns() - before);
    }
    std::ranges::nth_element(times, times.begin() + kLooks / 2);
    return times[kLooks / 2];
}

std::string describe_looks(const plan::ProbePlan& probe) {
    uint64_t period = std::get<target::Interval>(probe.probe->at).period_ns;
    uint64_t fields = account::ProcessLooks::fields_of(probe);
    std::set<std::string_view> sources{target::source_text(target::ProcessSource::stat)};
    for (uint32_t i = 1; i < target::kProcessFieldCount; ++i) {
        if ((fields >> i & 1) != 0) {
            sources.insert(target::source_text(target::kProcessFields.at(i).source));
        }
    }
    double us = static_cast<double>(time_of_look(fields)) / 1000;
    return fmt::format(
        "the tracer samples each traced process every {}\n"
        "  reads   {}\n"
        "  cost    {:.0f} us of the tracer's time per sample of a process with one thread, "
        "{:.3f} % of a CPU",
        target::period_text(period), fmt::join(sources, ", "), us,
        100 * us * 1000 / static_cast<double>(period));
}

std::string describe_end(const load::Frontend& frontend, const plan::ProbePlan& probe) {
    if (!probe.has_return()) return "; no return probe is needed";
    if (!probe.ends_at_instructions()) return "";
    const load::EntryPlace& place = frontend.entries[static_cast<uint32_t>(probe.id)];
    const std::string& why = frontend.function(probe.id).stacks.why();
    if (!place.no_end.empty())
        return fmt::format(
            "\n  return  not seen: {}; a return probe would harm the program, because {}",
            place.no_end, why);
    const auto ends = std::ranges::count_if(place.ends, [](const bpf::Site::End& end) {
        return end.role == codegen::Role::returns || end.role == codegen::Role::returns_elsewhere;
    });
    return fmt::format("\n  return  at {} instruction{} that return{} or leave{} it{}; a return "
                       "probe would harm the "
                       "program, because {}",
                       ends, ends == 1 ? "" : "s", ends == 1 ? "s" : "", ends == 1 ? "s" : "",
                       place.leaves.empty() ? "" : ", without what it jumps to: " + place.leaves,
                       why);
}

std::string describe_place(const load::Frontend& frontend, const plan::ProbePlan& probe) {
    switch (probe.kind) {
    case plan::ProbeKind::function: break;
    case plan::ProbeKind::kernel:
        return probe.has_return() ? "on the function's entry and its return"
                                  : "on the function's entry; no return probe is needed";
    case plan::ProbeKind::syscall:
        return !probe.has_entry()    ? "at the end of the call only"
               : probe.acts_at_end() ? "at the end of the call, but for the time of its beginning"
               : probe.has_return()  ? "at both ends of the call"
                                     : "at the beginning of the call only";
    case plan::ProbeKind::tracepoint: return "on the tracepoint";
    case plan::ProbeKind::defined:
        return "defined by " + std::get<target::Defined>(probe.probe->at).definition->file;
    case plan::ProbeKind::usdt: return describe_usdt(std::get<target::Usdt>(probe.probe->at));
    case plan::ProbeKind::interval: return describe_looks(probe);
    }
    return frontend.entries[static_cast<uint32_t>(probe.id)].why + describe_end(frontend, probe) +
           (probe.until_known
                ? "\n  when    in processes that ran before the trace, until it tells nothing new"
                : "");
}

void describe_tallies(const load::Frontend& frontend, const std::optional<plan::RecordPlan>& record,
                      std::string& out) {
    if (!record) return;
    for (const plan::Emit& emit : record->emits) {
        if (const auto* largest = std::get_if<plan::LargestEmit>(&emit.what)) {
            const auto& list = frontend.plan.lists[static_cast<uint32_t>(largest->list)];
            out += fmt::format("  tracer  {}: the {} largest by {}, from the record\n", list.title,
                               list.count, list.by);
        }
        if (std::holds_alternative<plan::TraceEmit>(emit.what)) {
            out += "  tracer  compares the address that it gives with where the probes are\n";
        }
        const auto* tally = std::get_if<plan::TallyEmit>(&emit.what);
        if (tally == nullptr) continue;
        const auto& shared = frontend.plan.aggregates[static_cast<uint32_t>(tally->aggregate)];
        out += fmt::format("  tracer  {}, from the record\n", shared.label);
    }
}

}  // namespace

std::string full_name(const plan::ProbePlan& probe) {
    struct Visitor {
        std::string operator()(const target::UserFunction& at) {
            return at.soname + ":" + at.symbol;
        }
        std::string operator()(const target::KernelFunction& at) {
            return "kernel:" + at.symbol + (at.module.empty() ? "" : " [" + at.module + "]");
        }
        std::string operator()(const target::Syscall& at) { return "syscall:" + at.name; }
        std::string operator()(const target::Tracepoint& at) {
            return "tracepoint:" + at.category + ":" + at.name;
        }
        std::string operator()(const target::Defined& at) {
            return at.definition->group + ":" + at.definition->name;
        }
        std::string operator()(const target::Usdt& at) {
            return fmt::format("usdt:{}:{}:{}", at.file, at.probe.provider, at.probe.name);
        }
        std::string operator()(const target::Interval& at) {
            return "interval:" + target::period_text(at.period_ns);
        }
    };
    return std::visit(Visitor{}, probe.probe->at);
}

namespace {

// What `each` makes several rules of is said once.
std::string without_repeats(const std::string& text) {
    std::set<std::string> said;
    std::istringstream lines(text);
    std::string out;
    for (std::string line; std::getline(lines, line);) {
        if (said.insert(line).second) out += line + "\n";
    }
    return out;
}

}  // namespace

std::string explain(const load::Frontend& frontend, const plan::ProbePlan& probe) {
    std::set<std::string> places;
    for (const plan::RulePart& part : probe.parts) {
        places.insert(frontend.plan.rules[static_cast<uint32_t>(part.rule)].place);
    }
    std::string out = fmt::format("{}  {}\n", full_name(probe), fmt::join(places, ", "));
    out += fmt::format("  probe   {}\n", describe_place(frontend, probe));
    for (const plan::RulePart& part : probe.parts) describe_part(frontend, part, out);
    if (probe.entry) out += describe_record(frontend, probe, *probe.entry, false);
    if (probe.ret) out += describe_record(frontend, probe, *probe.ret, true);
    for (const plan::AggregateUse& use : probe.aggregates) {
        const auto& shared = frontend.plan.aggregates[static_cast<uint32_t>(use.aggregate)];
        out += fmt::format("  kernel  {} in a map, no record\n", shared.label);
    }
    describe_tallies(frontend, probe.entry, out);
    describe_tallies(frontend, probe.ret, out);
    return without_repeats(out);
}

std::string explain_plan(const load::Frontend& frontend) {
    size_t moved = 0;
    for (const load::EntryPlace& place : frontend.entries) moved += place.offset != 0 ? 1 : 0;
    return fmt::format("{}, {}; {} not on the first byte\n"
                       "largest record {} bytes; {} bytes are kept of each open call\n",
                       sink::plural(frontend.plan.probes.size(), "function"),
                       sink::plural(frontend.plan.shapes.size(), "program"),
                       sink::plural(moved, "probe"), frontend.plan.record_bytes,
                       frontend.plan.frame_save_bytes);
}

}  // namespace mlbcc::session
