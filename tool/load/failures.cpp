#include "load/failures.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <set>

#include <fmt/format.h>

#include "load/verifier_log.h"

namespace mlbcc::load {
namespace {

using Stage = bpf::CompileError::Stage;

constexpr size_t kShownSteps = 12;
constexpr const char* kNoDebug = "-g0";

std::string_view take_line(std::string_view& text) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

// "mlbcc.bpf.c:12:5: error: use of undeclared identifier 'x'"
struct ClangError {
    std::string file, message;
    uint32_t line = 0, column = 0;
};

std::optional<ClangError> read_clang_error(std::string_view text) {
    for (std::string_view kind : {": error: ", ": fatal error: "}) {
        size_t end = text.find(kind);
        if (end == std::string_view::npos) continue;
        ClangError error{{}, std::string(text.substr(end + kind.size()))};
        std::string_view place = text.substr(0, end);
        for (uint32_t* number : {&error.column, &error.line}) {
            size_t colon = place.rfind(':');
            if (colon == std::string_view::npos) return std::nullopt;
            std::from_chars(place.data() + colon + 1, place.data() + place.size(), *number);
            place = place.substr(0, colon);
        }
        error.file = place;
        return error;
    }
    return std::nullopt;
}

class Teller {
public:
    Teller(const Frontend& frontend, const bpf::CompileRequest& request,
           const codegen::Program& program, const bpf::CompileError& error)
        : frontend_(frontend), file_(request.file), program_(program), error_(error),
          source_(request.file, program.source) {}

    void tell_compile() {
        std::string_view rest = error_.log;
        while (!rest.empty()) {
            if (auto one = read_clang_error(take_line(rest))) tell(*one);
        }
        if (!diagnostics_.has_errors()) {
            diagnostics_.error({}, error_.what).note(tail(error_.log));
            is_ours_ = true;
        }
    }

    void tell_load() {
        const VerifierLog log = read_verifier_log(error_.log);
        for (const bpf::ListedInstruction& one : error_.listing) lines_[one.number] = one.line;
        const std::string reason = !log.reason.empty() ? log.reason
                                   : error_.code != 0  ? std::strerror(error_.code)
                                                       : error_.what;
        const codegen::Origin at = program_.lines.of(line_of(log.culprit));
        const Span rule = rule_of(log, at);
        Diagnostic& told = tell_place(at, rule, line_of(log.culprit), reason);
        told.labelled("the kernel's verifier gave up here");
        if (!log.steps.empty()) {
            told.note("the last instructions it verified:\n" + steps_text(log));
        }
    }

    std::string text() const { return diagnostics_.render(); }

    Error summary() const {
        if (!is_ours_) {
            return Error{
                fmt::format("{}: what is wrong is in a template of --templates", error_.what), 0,
                "correct the template at the place that the message names"};
        }
        return defect_of_ours(error_.what, error_.stage == Stage::load ? kernel::read_release()
                                                                       : kernel::KernelRelease{});
    }

private:
    static std::string tail(std::string_view log) {
        size_t at = log.size();
        for (size_t i = 0; i < kShownSteps && at != std::string_view::npos && at > 0; ++i)
            at = log.rfind('\n', at - 1);
        return std::string(at == std::string_view::npos || at == 0 ? log : log.substr(at + 1));
    }

    // By the instruction, or one before it that has a line.
    uint32_t line_of(uint32_t instruction) const {
        for (auto at = lines_.upper_bound(instruction); at != lines_.begin();) {
            if ((--at)->second != 0) return at->second;
        }
        return 0;
    }

    // The part of a rule that was being done: that of the culprit, or the last before it. Else all
    // that the program does.
    Span rule_of(const VerifierLog& log, const codegen::Origin& at) const {
        if (!at.rules.empty()) return at.rules.front();
        for (size_t i = log.steps.size(); i-- > 0;) {
            auto origin = program_.lines.of(line_of(log.steps[i].instruction));
            if (!origin.rules.empty()) return origin.rules.front();
        }
        for (const plan::ProbePlan& probe : frontend_.plan.probes) {
            if (!probe.parts.empty() && is_for(probe, at))
                return frontend_.plan.rules[static_cast<uint32_t>(probe.parts.front().rule)].head;
        }
        return {};
    }

    // Whether the program that was refused is for it, or the template that defines it.
    bool is_for(const plan::ProbePlan& probe, const codegen::Origin& at) const {
        if (const auto* defined = std::get_if<target::Defined>(&probe.probe->at))
            return defined->definition->file == at.template_name;
        return std::ranges::any_of(program_.functions, [&](const codegen::Function& one) {
            return one.name == error_.program && one.shape &&
                   (one.shape == probe.entry_shape || one.shape == probe.return_shape);
        });
    }

    // What stands in this line of a template, as far as it is text of the template's own.
    Span template_span(const codegen::Origin& at, uint32_t column) {
        auto text = frontend_.templates.texts.find(at.template_name);
        if (text == frontend_.templates.texts.end()) return {};
        const SourceFile& file =
            files_.emplace_back(frontend_.templates.path_of(at.template_name), text->second);
        std::string_view line = file.line(at.template_line);
        size_t begin = column > 0 ? column - 1 : line.find_first_not_of(" \t");
        if (begin >= line.size()) begin = 0;
        const uint32_t from = file.offset_of(at.template_line, static_cast<uint32_t>(begin) + 1);
        size_t length = column > 0 ? 1 : std::max<size_t>(line.size() - begin, 1);
        return {&file, from, from + static_cast<uint32_t>(length)};
    }

    Diagnostic& tell_place(const codegen::Origin& at, const Span& rule, uint32_t line,
                           const std::string& message, uint32_t column = 0) {
        const bool of_user = frontend_.is_users_template(at.template_name);
        if (!of_user) is_ours_ = true;
        const Span place = at.template_name.empty() ? Span{} : template_span(at, column);
        if (of_user || (rule.file == nullptr && place.file != nullptr)) {
            Diagnostic& told = diagnostics_.error(place, message);
            if (rule.file != nullptr) told.at("what the rule asks for", rule.where());
            return told;
        }
        if (rule.file == nullptr) return diagnostics_.error_at({file_, line}, message);
        Diagnostic& told = diagnostics_.error(rule, message);
        if (place.file != nullptr) told.at("in this template", place.where());
        if (line > 0) told.note(fmt::format("in the C: {}", c_text(line)));
        return told;
    }

    void tell(const ClangError& one) {
        if (one.file != file_) {
            is_ours_ = true;
            diagnostics_.error_at({one.file, one.line, one.column}, one.message);
            return;
        }
        const codegen::Origin at = program_.lines.of(one.line);
        tell_place(at, at.rules.empty() ? Span{} : at.rules.front(), one.line, one.message,
                   one.column);
    }

    std::string c_text(uint32_t line) const {
        std::string_view text = source_.line(line);
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        return std::string(text);
    }

    // With the C above what is done for it.
    std::string steps_text(const VerifierLog& log) const {
        const size_t first = log.steps.size() - std::min(log.steps.size(), kShownSteps);
        std::string out;
        uint32_t shown = 0;
        for (size_t i = first; i < log.steps.size(); ++i) {
            const uint32_t line = line_of(log.steps[i].instruction);
            if (line != shown && line != 0) out += fmt::format("; {}\n", c_text(line));
            shown = line;
            out.append(log.steps[i].line).append("\n");
        }
        if (!log.reason.empty()) return out + log.reason;
        out.pop_back();
        return out;
    }

    const Frontend& frontend_;
    const std::string& file_;
    const codegen::Program& program_;
    const bpf::CompileError& error_;
    const SourceFile source_;
    std::deque<SourceFile> files_;  // templates
    Diagnostics diagnostics_;
    std::map<uint32_t, uint32_t> lines_;  // by instruction
    bool is_ours_ = false;                // not all is in templates of the user's
};

bool is_for_want_of_rights(const bpf::CompileError& failed) {
    return failed.stage == Stage::load && failed.code == EPERM && failed.log.empty();
}

}  // namespace

Error defect_of_ours(const std::string& what, const kernel::KernelRelease& refused_by) {
    constexpr const char* kReport =
        "please report it, with all that `--keep DIR` keeps when you run this again";
    if (!(kernel::kNewestTried < refused_by))
        return {what + ": this is a defect of mlbcc, not of your rules", 0, kReport};
    return {fmt::format("{}: Linux {}.{} is newer than any that mlbcc was tested on, up to {}.{}",
                        what, refused_by.major, refused_by.minor, kernel::kNewestTried.major,
                        kernel::kNewestTried.minor),
            0, fmt::format("try `--attach multi`; and {}", kReport)};
}

bpf::CompileRequest with_lines(bpf::CompileRequest request, const codegen::Program& program) {
    request.source = codegen::numbered(program.source);
    std::erase(request.cflags, kNoDebug);
    request.listing = true;
    request.bundle = false;
    return request;
}

Refused explain_refusal(const Frontend& frontend, const bpf::CompileRequest& request,
                        const codegen::Program& program, bpf::CompileError first) {
    Refused refused{std::move(first), {}, {}};
    if (is_for_want_of_rights(refused.error)) {
        refused.summary = Error{refused.error.what, refused.error.code,
                                "run as root, or with CAP_BPF and CAP_PERFMON"};
        return refused;
    }
    if (refused.error.code == EMFILE) {
        refused.summary = Error{refused.error.what, EMFILE, {}};
        return refused;
    }
    if (auto helper = frontend.compiler->another()) {
        auto again = helper->compile(with_lines(request, program));
        auto* error = again ? std::get_if<bpf::CompileError>(&*again) : nullptr;
        if (error != nullptr) refused.error = std::move(*error);
    }
    Teller teller(frontend, request, program, refused.error);
    if (refused.error.stage == Stage::load)
        teller.tell_load();
    else
        teller.tell_compile();
    refused.told = teller.text();
    refused.summary = teller.summary();
    return refused;
}

}  // namespace mlbcc::load
