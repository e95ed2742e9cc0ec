#include "bpf/remembering_compiler.h"

#include <algorithm>
#include <filesystem>

#include "base/read_file.h"
#include "bpf/compiler_json.h"
#include "rules/ctypes.h"

namespace mlbcc::bpf {
namespace {

namespace fs = std::filesystem;

// A whole tree of kernel headers is not read through at each start.
constexpr size_t kMaxHeaderFiles = 64, kMaxHeaderBytes = size_t{1} << 20;

// The states of all files that an answer on types was made from; nullopt where one cannot be told.
std::optional<std::string> states_in(const std::string& json) {
    Result<std::vector<std::string>> files = rules::read_files(json);
    if (!files) return std::nullopt;
    std::string states;
    for (const std::string& file : *files) {
        const std::string state = file_state(file);
        if (state.empty()) return std::nullopt;
        states += state + "\n";
    }
    return states;
}

// Whether the files are as they were.
bool still_hold(std::string_view states) {
    while (!states.empty()) {
        const size_t end = states.find('\n');
        std::string_view line = states.substr(0, end);
        const size_t name = line.find(' ', line.find(' ') + 1) + 1;
        if (file_state(std::string(line.substr(name))) != line) return false;
        states.remove_prefix(end + 1);
    }
    return true;
}

// The files of a folder with all that they hold; nullopt where that is too much.
std::optional<std::string> text_of_folder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code code;
    for (const auto& entry : fs::recursive_directory_iterator(folder, code)) {
        if (!entry.is_regular_file(code)) continue;
        files.push_back(entry.path().string());
        if (files.size() > kMaxHeaderFiles) return std::nullopt;
    }
    if (code) return std::nullopt;
    std::ranges::sort(files);
    std::string all;
    for (const std::string& file : files) {
        auto text = read_file(file, kMaxHeaderBytes);
        if (!text || all.size() > kMaxHeaderBytes) return std::nullopt;
        all += file.substr(folder.size()) + "\n" + *text;
    }
    return all;
}

}  // namespace

RememberingCompiler::RememberingCompiler(std::string helper, FileCache cache, std::string versions)
    : path_(std::move(helper)), cache_(std::move(cache)), versions_(std::move(versions)) {}

std::string RememberingCompiler::question(const char* kind, const std::string& text) const {
    return versions_ + "\n" + kind + "\n" + text;
}

Result<void> RememberingCompiler::need_helper() {
    if (helper_) return {};
    Result<CompilerProcess> started = CompilerProcess::start(path_);
    if (!started) return started.error();
    helper_.emplace(std::move(started).value());
    return {};
}

Result<void> RememberingCompiler::start_unless_known(const std::string& likely) {
    expected_ = cache_.get(question("start", likely));
    return expected_ ? Result<void>() : need_helper();
}

void RememberingCompiler::remember_start(const std::string& likely) {
    if (compiling_ && compiling_ != expected_) cache_.put(question("start", likely), *compiling_);
}

std::optional<std::string> RememberingCompiler::expected() const {
    return expected_ ? cache_.get(*expected_) : std::nullopt;
}

Result<std::string> RememberingCompiler::types(TypesRequest request) {
    request.list_files |= cache_.is_used();
    const std::string asked = question("types", request_json(request));
    if (auto kept = cache_.get(asked)) {
        const size_t end = kept->find("\n{");  // of the files' states
        if (end != std::string::npos && still_hold(std::string_view(*kept).substr(0, end)))
            return kept->substr(end + 1);
    }
    if (auto ready = need_helper(); !ready) return ready.error();
    Result<std::string> answer = helper_->types(request);
    if (!answer || !cache_.is_used()) return answer;
    if (auto states = states_in(*answer)) cache_.put(asked, *states + "\n" + *answer);
    return answer;
}

Result<std::vector<EntryChoice>>
RememberingCompiler::entries(const std::string& architecture,
                             std::span<const FunctionCode> functions) {
    const std::string asked = question("entries", request_json(architecture, functions));
    if (auto kept = cache_.get(asked)) {
        if (auto choices = read_entries(*kept)) return choices;
    }
    if (auto ready = need_helper(); !ready) return ready.error();
    Result<std::string> answer = helper_->entries_text(architecture, functions);
    if (!answer) return answer.error();
    Result<std::vector<EntryChoice>> choices = read_entries(*answer);
    if (choices) cache_.put(asked, *answer);
    return choices;
}

std::optional<std::string>
RememberingCompiler::compile_question(const CompileRequest& request) const {
    if (!cache_.is_used() || request.emit_only) return std::nullopt;
    auto headers = text_of_folder(request.kernel_dir);
    if (!headers) return std::nullopt;
    CompileRequest without = request;
    without.kernel_dir.clear();
    return question("compile", request_json(without) + *headers);
}

bool RememberingCompiler::is_expected(const CompileRequest& request) {
    compiling_ = compile_question(request);
    return compiling_ && compiling_ == expected_;
}

std::optional<std::string> RememberingCompiler::compiled_before() const {
    return compiling_ ? cache_.get(*compiling_) : std::nullopt;
}

Result<void> RememberingCompiler::send_compile(CompileRequest request) {
    if (auto ready = need_helper(); !ready) return ready.error();
    compiling_ = compile_question(request);
    request.bundle = compiling_.has_value();
    return helper_->send_compile(request);
}

Result<CompileResult> RememberingCompiler::receive_compile() {
    if (!helper_) return Error{"nothing is being compiled"};
    Result<CompileResult> result = helper_->receive_compile();
    const auto* compiled = result ? std::get_if<Compiled>(&*result) : nullptr;
    // What clang warns of shall be seen each time.
    bool keep = compiled != nullptr && compiling_ && !compiled->bundle.empty() &&
                compiled->warnings.empty();
    if (keep) cache_.put(*compiling_, compiled->bundle);
    return result;
}

void RememberingCompiler::kill() {
    if (helper_) helper_->kill();
}

}  // namespace mlbcc::bpf
