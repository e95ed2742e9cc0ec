#include "target/usdt_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "target/forms.h"
#include "target/messages.h"
#include "target/probe_table.h"
#include "text/glob.h"

namespace mlbcc::target {
namespace {

constexpr size_t kShownProbes = 20;

std::string directory_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

std::string full_name(const UsdtProbe& probe) {
    return probe.provider + ":" + probe.name;
}

std::string key(const std::string& path, const UsdtProbe& probe, uint32_t place) {
    return fmt::format("{} {}:{} {:06}", path, probe.provider, probe.name, place);
}

}  // namespace

void UsdtTable::want(const rules::Rule& rule, const rules::Target& target) {
    Request request{rule, target, std::get<rules::UsdtTarget>(target.node), {}};
    LibrarySearch found = find_files(request);
    if (found.paths.empty()) return not_found(request, found);
    size_t matched = 0, kept = 0;
    for (const std::string& path : found.paths) {
        Result<const UsdtProbes*> probes = read(path);
        if (!probes) return unreadable(request, path, probes.error());
        request.files.push_back(path);
        want_all(request, path, **probes, matched, kept);
    }
    if (kept == 0) no_match(request, matched > 0);
}

// A NAME that no `library` line has is that of a program. Of a line's files all that are there
// count: each program has probes of its own.
LibrarySearch UsdtTable::find_files(const Request& request) {
    const std::string& name = request.wanted.library;
    const auto line = std::ranges::find(rules_.libraries, name, &rules::Library::name);
    const SourceFile* file = request.target.span.file;
    if (request.wanted.quoted || line == rules_.libraries.end()) {
        return host_.find_library(name, file == nullptr ? "." : directory_of(file->path()));
    }
    LibrarySearch all;
    for (const std::string& one : line->files) {
        LibrarySearch found = host_.find_library(one, line->directory);
        std::ranges::move(found.searched, std::back_inserter(all.searched));
        for (std::string& path : found.paths) {
            if (std::ranges::find(all.paths, path) == all.paths.end())
                all.paths.push_back(std::move(path));
        }
    }
    return without_scripts(std::move(all));
}

// A program that is found may be a script that starts another one. Where nothing else is, it is
// told of.
LibrarySearch UsdtTable::without_scripts(LibrarySearch all) {
    std::vector<std::string> programs;
    for (const std::string& path : all.paths) {
        if (read(path)) programs.push_back(path);
    }
    if (!programs.empty()) all.paths = std::move(programs);
    return all;
}

Result<const UsdtProbes*> UsdtTable::read(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return &known->second;
    Result<UsdtProbes> read = host_.usdt(path);
    if (!read) return read.error();
    return &files_.emplace(path, std::move(*read)).first->second;
}

Diagnostic& UsdtTable::problem(const Request& request, const std::string& message, bool is_error) {
    return request.rule.optional && !is_error ? diagnostics_.aside(request.target.span, message)
                                              : diagnostics_.error(request.target.span, message);
}

void UsdtTable::unreadable(const Request& request, const std::string& path, const Error& why) {
    if (request.rule.unsaid) return;
    problem(request, fmt::format("the probes of {} cannot be read", quoted(path)))
        .note(why.message());
}

void UsdtTable::not_found(const Request& request, const LibrarySearch& search) {
    if (request.rule.unsaid) return;
    Diagnostic& told = problem(
        request, fmt::format("no program or library {} was found", quoted(request.wanted.library)));
    for (const std::string& place : search.searched) told.note("searched " + place);
    if (request.rule.optional) return;
    told.help(request.wanted.quoted ? "give its path"
                                    : "give its path in quotes, or name it by a `library` line");
}

void UsdtTable::no_match(const Request& request, bool excepted) {
    const std::string pattern = request.wanted.provider.text + ":" + request.wanted.name.text;
    if (excepted) {
        problem(request, fmt::format("`except` leaves no probe of {}", quoted(pattern)), true);
        return;
    }
    if (request.rule.unsaid) return;
    std::set<std::string> names;
    for (const std::string& path : request.files) {
        for (const UsdtProbe& one : files_.at(path).probes) names.insert(full_name(one));
    }
    Diagnostic& told = problem(request, fmt::format("no probe matches {}", quoted(pattern)));
    const std::string files = fmt::format("{}", fmt::join(request.files, ", "));
    if (names.empty()) {
        told.note(files + " brings no probes along");
        return;
    }
    const std::vector<std::string> all(names.begin(), names.end());
    const auto shown = std::span(all).first(std::min(all.size(), kShownProbes));
    told.note(fmt::format("{} has {}{}", files, fmt::join(shown, ", "),
                          all.size() > shown.size() ? ", ..." : ""));
    if (auto close = closest_name(pattern, all)) {
        told.help(fmt::format("there is one with a similar name: {}", quoted(*close)));
    }
}

void UsdtTable::want_all(const Request& request, const std::string& path, const UsdtProbes& probes,
                         size_t& matched, size_t& kept) {
    const NamePattern names(request.wanted.name.text, kNoVariants);
    std::map<std::string, uint32_t> seen, places;
    for (const UsdtProbe& one : probes.probes) ++places[full_name(one)];
    for (const UsdtProbe& one : probes.probes) {
        const uint32_t place = seen[full_name(one)]++;
        if (!glob_match(request.wanted.provider.text, one.provider)) continue;
        if (!names.matches(one.name)) continue;
        ++matched;
        if (is_excepted(request.rule, one.name)) continue;
        ++kept;
        Probe& found = probes_[key(path, one, place)];
        add_use(found.uses, {&request.rule, nullptr, names.exactness()});
        if (found.signature != nullptr) continue;
        const std::string file = path.substr(path.rfind('/') + 1);
        found.at = Usdt{path, file, one, place, places[full_name(one)]};
        found.signature = signature(one);
    }
}

// Its arguments have no names: arg0, arg1, ...
const rules::Signature* UsdtTable::signature(const UsdtProbe& probe) {
    rules::Signature made;
    made.name = full_name(probe);
    made.ret = types_.add({"void", rules::VoidType{}});
    for (const UsdtArgument& one : probe.arguments) {
        made.params.push_back({fmt::format("arg{}", made.params.size()), argument_type(one)});
    }
    return types_.keep(std::move(made));
}

// Pointers are 8 bytes without a sign. What cannot be read has no type, but its own text.
rules::TypeId UsdtTable::argument_type(const UsdtArgument& argument) {
    if (std::holds_alternative<UsdtUnknown>(argument.place)) {
        return types_.add({argument.text, rules::VoidType{}});
    }
    rules::CType type{fmt::format("{}int{}_t", argument.is_signed ? "" : "u", argument.size * 8),
                      rules::IntType{argument.size, argument.is_signed, false}};
    type.is_address = argument.size == 8 && !argument.is_signed;
    return types_.add(std::move(type));
}

std::vector<Probe> UsdtTable::take() {
    return take_all(probes_);
}

}  // namespace mlbcc::target
