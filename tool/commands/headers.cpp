#include "commands/commands.h"

#include <filesystem>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "commands/synthesize.h"
#include "kernel/kernel_headers.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc::commands {
namespace {

using kernel::HeaderChoice;
using kernel::KernelHeaders;

struct Survey {
    kernel::HeaderPlaces places;
    std::vector<KernelHeaders> found;
    Result<HeaderChoice> used;
    bool is_used(const KernelHeaders& one) const {
        return used && used->headers.kind == one.kind && used->headers.path == one.path;
    }
};

Survey survey(const std::string& wanted) {
    const kernel::HeaderPlaces places = kernel::HeaderPlaces::current();
    std::vector<KernelHeaders> found = kernel::find_kernel_headers(places);
    Result<HeaderChoice> used = kernel::choose_headers(wanted, places);
    Survey made{places, std::move(found), std::move(used)};
    bool is_listed = false;
    for (const KernelHeaders& one : made.found) is_listed |= made.is_used(one);
    if (made.used && !is_listed) made.found.push_back(made.used->headers);
    return made;
}

// "of the running kernel", "of 6.1.0-9-amd64: another kernel's", "it is not there"
std::string state(const KernelHeaders& one) {
    if (one.is_there && one.roots.empty() && one.matches) return "the running kernel's own";
    if (!one.version.empty() && !one.matches) {
        return fmt::format("of {}, another kernel: it would read wrong bytes", one.version);
    }
    if (!one.problem.empty()) return one.problem;
    return fmt::format("of {}, as the running kernel", one.version);
}

void print_text(const Survey& made) {
    print_output("kernel   {}\n", made.places.release);
    for (const KernelHeaders& one : made.found) {
        print_output("{:<8} {}: {}{}\n", kernel::kind_name(one.kind), one.path, state(one),
                     made.is_used(one) ? "  <- used" : "");
        for (size_t i = 1; i < one.roots.size(); ++i)
            print_output("         and {}\n", one.roots[i]);
    }
    if (made.used) {
        print_output("used     {}: {}\n", made.used->headers.path, made.used->why);
    } else {
        print_output(
            "used     nothing: rules that read the kernel's structures do not work here\n");
    }
}

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write(Writer& out, const char* key, const std::string& text) {
    out.Key(key);
    if (text.empty()) {
        out.Null();
    } else {
        out.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    }
}

void write(Writer& out, const Survey& made, const KernelHeaders& one) {
    out.StartObject();
    write(out, "kind", kernel::kind_name(one.kind));
    write(out, "path", one.path);
    write(out, "version", one.version);
    out.Key("there");
    out.Bool(one.is_there);
    out.Key("matches");
    out.Bool(one.matches);
    out.Key("used");
    out.Bool(made.is_used(one));
    write(out, "problem", one.problem);
    out.EndObject();
}

void print_json(const Survey& made) {
    rapidjson::StringBuffer buffer;
    Writer out(buffer);
    out.StartObject();
    write(out, "kernel", made.places.release);
    out.Key("found");
    out.StartArray();
    for (const KernelHeaders& one : made.found) write(out, made, one);
    out.EndArray();
    write(out, "used", made.used ? made.used->headers.path : "");
    write(out, "why", made.used ? made.used->why : made.used.error().message());
    out.EndObject();
    print_output("{}\n", buffer.GetString());
}

int list_headers(const std::string& wanted, bool json) {
    const Survey made = survey(wanted);
    if (json) {
        print_json(made);
    } else {
        print_text(made);
    }
    if (made.used) return 0;
    return json ? kExitFailure : tell(made.used.error());
}

// What the link is to lead to: the tree that was named or written, or one of the running kernel.
Result<std::string> link_target(const load::RuleOptions& options, const HeadersOptions& headers,
                                const kernel::HeaderPlaces& places) {
    std::string named = headers.synthesize;
    if (named.empty() && options.headers != "auto" && options.headers != "btf") {
        named = options.headers;
    }
    if (!named.empty()) {
        const KernelHeaders tree = kernel::headers_in(named, places);
        if (!tree.problem.empty()) return Error{named + ": " + tree.problem, 0, {}};
        if (tree.matches) return named;
        return Error{fmt::format("{} is of {}, and the running kernel is {}: with it, other tools "
                                 "would read wrong bytes",
                                 named, tree.version, places.release),
                     0, "install the headers of the running kernel, or use --synthesize DIR"};
    }
    for (const KernelHeaders& one : kernel::find_kernel_headers(places)) {
        if (one.kind == kernel::HeaderKind::folder && one.is_usable() && one.matches)
            return one.path;
    }
    return Error{"there are no headers of " + places.release + " that a link could lead to", 0,
                 "`mlbcc headers --synthesize DIR --link` makes them from the kernel's BTF"};
}

int link(const load::RuleOptions& options, const HeadersOptions& headers) {
    const kernel::HeaderPlaces places = kernel::HeaderPlaces::current();
    for (const KernelHeaders& one : kernel::find_kernel_headers(places)) {
        if (one.kind != kernel::HeaderKind::build || !one.is_usable()) continue;
        print_output("{} leads to the running kernel's headers already\n", one.path);
        return 0;
    }
    const Result<std::string> target = link_target(options, headers, places);
    if (!target) return tell(target.error());
    print_output("making the link /lib/modules/{}/build -> {}\n", places.release, *target);
    const Result<std::string> done = kernel::link_headers(*target, places);
    if (!done) return tell(done.error());
    print_output("{}\n", *done);
    return 0;
}

int synthesize(const load::RuleOptions& options, const std::string& folder) {
    if (auto done = synthesize_headers(folder, options.templates); !done) return tell(done.error());
    print_output("wrote headers of {} to {}; for tools made with BCC: BCC_KERNEL_SOURCE={}\n",
                 kernel::HeaderPlaces::current().release, folder,
                 std::filesystem::absolute(folder).string());
    return 0;
}

}  // namespace

int run_headers(const load::RuleOptions& options, const HeadersOptions& headers) {
    if (!headers.synthesize.empty()) {
        const int status = synthesize(options, headers.synthesize);
        if (status != 0 || !headers.link) return status;
    }
    if (headers.link) return link(options, headers);
    return list_headers(options.headers, headers.json);
}

}  // namespace mlbcc::commands
