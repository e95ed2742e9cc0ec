#include "load/late.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/open_file.h"
#include "elf/elf_file.h"
#include "text/glob.h"

namespace mlbcc::load {
namespace {

bool is_meant(const Frontend& frontend, const target::LibraryName& name,
              const host::SeenFile& file) {
    return std::ranges::any_of(frontend.places(name), [&](const host::WatchedPlace& place) {
        return host::leads_to(place, file);
    });
}

// The machine with one library more: that file, by the names that lead to it.
class LateHost final : public target::Host {
public:
    LateHost(const Frontend& frontend, std::string path, const host::SeenFile& file)
        : frontend_(frontend), path_(std::move(path)), file_(file) {}

    target::LibrarySearch find_library(std::string_view name, std::string_view directory) override {
        target::LibrarySearch found;
        const target::LibraryName wanted{std::string(name), std::string(directory)};
        if (is_meant(frontend_, wanted, file_)) found.paths.push_back(path_);
        return found;
    }
    Result<target::Symbols> symbols(const std::string& path) override {
        return elf::read_symbols(path);
    }
    Result<std::vector<std::byte>> read(const std::string& path, uint64_t offset,
                                        size_t size) override {
        return frontend_.host->read(path, offset, size);
    }
    std::string architecture() override { return frontend_.host->architecture(); }

private:
    const Frontend& frontend_;
    std::string path_;
    const host::SeenFile& file_;
};

std::string plural(size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Result<std::optional<LateLibraries>> LateLibraries::start(Frontend& frontend) {
    if (!frontend.grows()) return std::optional<LateLibraries>();
    Result<host::OpenGuard> guard = host::OpenGuard::start(frontend.open_wait());
    if (!guard) return guard.error();
    LateLibraries made(frontend, std::move(*guard));
    if (auto done = made.watch(); !done) return done.error();
    made.look_again();
    return std::make_optional(std::move(made));
}

Result<void> LateLibraries::watch() {
    for (const plan::ProbePlan& probe : frontend_->plan.probes) {
        if (probe.kind != plan::ProbeKind::function) continue;
        const std::string& path = frontend_->function(probe.id).path;
        std::optional<files::FileId> file = files::file_id(path);
        if (!path.empty() && file && traced_.insert(*file).second) guard_.pass(*file);
    }
    for (const target::SoughtLibrary& library : frontend_->libraries) {
        if (!library.may_come() && !frontend_->grows_anywhere(library)) continue;
        awaited_.push_back({&library, library.found});
    }
    for (const bool in_folders : {false, true}) {
        for (const Awaited& one : awaited_) {
            for (const target::LibraryName& name : one.library->names) {
                if (auto done = watch(*one.library, name, in_folders); !done) return done;
            }
        }
    }
    return {};
}

// A folder of an overlay need not be watched for what is noticed in any folder.
Result<void> LateLibraries::watch(const target::SoughtLibrary& library,
                                  const target::LibraryName& name, bool in_folders) {
    const bool anywhere = frontend_->grows_anywhere(library) && !name.has_folder();
    const bool is_plain = !is_glob(name.text) || name.text.starts_with('$');
    if (in_folders ? library.found && is_plain : !anywhere) return {};
    for (const host::WatchedPlace& place : frontend_->places(name)) {
        if (place.has_folder() != in_folders) continue;
        Result<int> watched = guard_.watch(place);
        if (!watched && in_folders && anywhere && watched.error().code == EOPNOTSUPP) continue;
        if (!watched) return watched.error();
        file_systems_ = *watched;
    }
    return {};
}

// What came between the search and the watch.
void LateLibraries::look_again() {
    for (const Awaited& one : awaited_) {
        for (const target::LibraryName& name : one.library->names) {
            for (std::string& path :
                 frontend_->host->find_library(name.text, name.directory).paths) {
                std::optional<files::FileId> file = files::file_id(path);
                if (file && !traced_.contains(*file)) found_.push_back(std::move(path));
            }
        }
    }
}

std::optional<LateArrival> LateLibraries::next(Loaded& loaded) {
    LateArrival arrival;
    if (!found_.empty()) {
        std::string path = std::move(found_.back());
        found_.pop_back();
        take(path, loaded, arrival);
        return arrival;
    }
    arrival.held = guard_.next();
    if (!arrival.held) return std::nullopt;
    take(fmt::format("/proc/self/fd/{}", arrival.held->file.get()), loaded, arrival);
    return arrival;
}

void LateLibraries::take(const std::string& path, Loaded& loaded, LateArrival& arrival) {
    const Result<UniqueFd> opened = open_file(path);
    if (!opened) return;
    const std::optional<host::SeenFile> file = host::seen_file(opened->get());
    if (!file) return;
    if (traced_.contains(file->id)) {
        arrival.traced = file->id;
        return;
    }
    LateHost host(*frontend_, path, *file);
    Diagnostics found;
    const std::string& name = file->path;
    Result<plan::Growth> growth =
        frontend_->add_late(host, std::string(files::file_name(name)), found);
    Result<Attached> attached =
        growth ? attach(loaded, growth->first_probe) : Result<Attached>(growth.error());
    if (!attached) {
        arrival.notes.push_back(
            fmt::format("{} came and is not traced: {}", name, attached.error().message()));
        return;
    }
    arrival.notes.push_back(
        fmt::format("{} came: {} traced", name, plural(attached->functions, "function")));
    for (const Diagnostic& one : found.all()) {
        if (one.severity == Diagnostic::Severity::error) arrival.notes.push_back(one.message);
    }
    if (!growth->left_out.empty()) {
        arrival.notes.push_back(
            fmt::format("{} of {} ({}{}) are not traced: add their prototypes to the rules",
                        plural(growth->left_out.size(), "function"), files::file_name(name),
                        growth->left_out.front(), growth->left_out.size() > 1 ? ", ..." : ""));
    }
    if (attached->functions == 0) return;
    mark_as_come(*file);
    traced_.insert(file->id);
    arrival.traced = file->id;
}

Result<Attached> LateLibraries::attach(Loaded& loaded, size_t first) const {
    if (auto done = loaded.tell_rules(frontend_->plan, first); !done) return done.error();
    return loaded.attach_functions(*frontend_, first);
}

void LateLibraries::mark_as_come(const host::SeenFile& file) {
    for (Awaited& one : awaited_) {
        for (const target::LibraryName& name : one.library->names) {
            if (one.came) break;
            one.came = is_meant(*frontend_, name, file);
        }
    }
}

void LateLibraries::let_go(const LateArrival& arrival) {
    if (arrival.traced) guard_.pass(*arrival.traced);
    if (arrival.held) guard_.release(*arrival.held);
}

bool LateLibraries::has_traced(uint64_t inode) const {
    return std::ranges::find(traced_, inode, &files::FileId::inode) != traced_.end();
}

std::vector<std::string> LateLibraries::never_came() const {
    std::vector<std::string> titles;
    for (const Awaited& one : awaited_) {
        if (!one.came && one.library->said) titles.push_back(one.library->title);
    }
    return titles;
}

}  // namespace mlbcc::load
