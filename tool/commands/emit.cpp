#include "commands/emit.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlbcc::commands {
namespace {

std::string_view without_indent(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

class Lister {
public:
    Lister(const load::Frontend& frontend, const codegen::Program& program)
        : frontend_(frontend), program_(program), source_("", program.source) {}

    void list(const bpf::CompiledProgram& one) {
        out_ += fmt::format("{}{}: {} instructions\n", out_.empty() ? "" : "\n", one.name,
                            one.instructions);
        uint32_t shown = 0;
        for (const bpf::ListedInstruction& step : one.listing) {
            if (step.line != 0 && step.line != shown) place(shown = step.line);
            out_ += fmt::format("{:6}: {}\n", step.number, step.text);
        }
    }

    std::string take() { return std::move(out_); }

private:
    // The line of C, behind where it is from.
    void place(uint32_t line) {
        const codegen::Origin at = program_.lines.of(line);
        for (const Span& span : at.rules)
            out_ += fmt::format("; {}: {}\n", span.place(), first_line(span.text()));
        std::string from =
            at.template_name.empty()
                ? ""
                : fmt::format("{}:{}: ", frontend_.templates.path_of(at.template_name),
                              at.template_line);
        out_ += fmt::format(";   {}{}\n", from, without_indent(source_.line(line)));
    }

    const load::Frontend& frontend_;
    const codegen::Program& program_;
    const SourceFile source_;
    std::string out_;
};

}  // namespace

std::string assembly(const load::Frontend& frontend, const codegen::Program& program,
                     const std::vector<bpf::CompiledProgram>& programs) {
    Lister lister(frontend, program);
    for (const bpf::CompiledProgram& one : programs) lister.list(one);
    return lister.take();
}

}  // namespace mlbcc::commands
