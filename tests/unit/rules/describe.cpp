#include "describe.h"

#include <fmt/format.h>

#include <array>

namespace mlbcc::rules {

namespace {

constexpr std::array kUnary{"*", "&", "-", "+", "~", "!", "in_python "};
constexpr std::array kBinary{"*",  "/",  "%",           "+",         "-",        "<<", ">>", "<",
                             "<=", ">",  ">=",          "==",        "!=",       "&",  "^",  "|",
                             "&&", "||", "starts with", "ends with", "contains", "~"};
constexpr std::array kUnits{"", "ns", "B"};

struct ExprText {
    std::string operator()(const NumberExpr& n) const {
        std::string digits = n.hex ? fmt::format("{:#x}", n.value) : std::to_string(n.value);
        return digits + kUnits[static_cast<size_t>(n.unit)];
    }
    std::string operator()(const CharExpr& n) const { return fmt::format("'{}'", n.value); }
    std::string operator()(const StringExpr& n) const { return "\"" + n.value + "\""; }
    std::string operator()(const NameExpr& n) const { return n.name; }
    std::string operator()(const ArgExpr& n) const { return fmt::format("arg({})", n.index); }
    std::string operator()(const StrExpr& n) const {
        return fmt::format("str({}, {})", describe(*n.pointer), n.length);
    }
    std::string operator()(const FileNameExpr& n) const {
        return fmt::format("file_name({})", describe(*n.descriptor));
    }
    std::string operator()(const DemangleExpr& n) const {
        return fmt::format("demangle({})", describe(*n.text));
    }
    std::string operator()(const LearntPartExpr& n) const {
        return fmt::format("{}({})", n.part == LearntPart::size ? "size" : "each", describe(*n.of));
    }
    std::string operator()(const NowExpr& n) const {
        return fmt::format("now({}{})", n.gauge, n.group ? ", " + describe(*n.group) : "");
    }
    std::string operator()(const CastExpr& n) const {
        return fmt::format("(({}){})", n.type, describe(*n.operand));
    }
    std::string operator()(const UnaryExpr& n) const {
        return fmt::format("({}{})", kUnary[static_cast<size_t>(n.op)], describe(*n.operand));
    }
    std::string operator()(const BinaryExpr& n) const {
        return fmt::format("({} {} {})", describe(*n.left), kBinary[static_cast<size_t>(n.op)],
                           describe(*n.right));
    }
    std::string operator()(const ConditionalExpr& n) const {
        return fmt::format("({} ? {} : {})", describe(*n.condition), describe(*n.yes),
                           describe(*n.no));
    }
    std::string operator()(const MemberExpr& n) const {
        return fmt::format("({}{}{})", describe(*n.object), n.arrow ? "->" : ".", n.field);
    }
    std::string operator()(const IndexExpr& n) const {
        return fmt::format("({}[{}])", describe(*n.object), describe(*n.index));
    }
};

std::string describe_fields(const std::vector<Field>& fields) {
    std::string out;
    for (const Field& field : fields) {
        out += fmt::format("{}{}", out.empty() ? "" : ", ", field.name);
        if (!field.is_args()) out += fmt::format(" = {}", describe(*field.value));
    }
    return "{" + out + "}";
}

std::string describe_by(const std::vector<Field>& by, const std::optional<std::string>& label) {
    std::string out;
    for (const Field& field : by) {
        out += out.empty() ? " by " : ", ";
        if (field.name != field.value->span.text()) out += field.name + " = ";
        out += describe(*field.value);
    }
    return label ? out + " as " + *label : out;
}

std::string describe_kept(const Kept& kept) {
    std::string every = kept.every_ns > 0 ? fmt::format(" every {}ns", kept.every_ns) : "";
    return describe_by(kept.by, kept.label) + every;
}

std::string describe_by_one(const LargestClause& n) {
    std::string name = n.by.name == n.by.value->span.text() ? "" : n.by.name + " = ";
    return fmt::format(" by {}{} as {}", name, describe(*n.by.value), n.title);
}

struct ClauseText {
    std::string operator()(const SpanClause& n) const {
        return fmt::format("span {} {}", n.type, describe_fields(n.fields));
    }
    std::string operator()(const EventClause& n) const {
        return fmt::format("event {}.{} {}", n.type, n.name, describe_fields(n.fields));
    }
    std::string operator()(const CountClause& n) const { return "count" + describe_kept(n.kept); }
    std::string operator()(const SumClause& n) const {
        std::string over = n.over ? " over " + describe(*n.over) : "";
        return "sum " + describe(*n.value) + over + describe_kept(n.kept);
    }
    std::string operator()(const HistClause& n) const {
        return "hist " + describe(*n.value) + describe_kept(n.kept);
    }
    std::string operator()(const GaugeClause& n) const {
        constexpr std::array kOps{"=", "+=", "-="};
        std::string owner = n.owner ? " of " + describe(*n.owner) : "";
        if (n.op == GaugeOp::release) return fmt::format("gauge {}{} = 0", n.name, owner);
        return fmt::format("gauge {}{} {} {}", n.name, n.key ? "[" + describe(*n.key) + "]" : "",
                           kOps[static_cast<size_t>(n.op)], describe(*n.value)) +
               describe_by(n.by, std::nullopt) + owner;
    }
    std::string operator()(const LearnClause& n) const {
        constexpr std::array kOps{"=", "+=", "-=", "add", "push", "pop", "forget"};
        std::string end = n.end ? " : " + describe(*n.end) : "";
        std::string out = fmt::format("learn {}[{}{}] {}", n.table, describe(*n.key), end,
                                      kOps[static_cast<size_t>(n.op)]);
        return n.value ? out + " " + describe(*n.value) : out;
    }
    std::string operator()(const LargestClause& n) const {
        return fmt::format("largest {}{} {}", n.count, describe_by_one(n),
                           describe_fields(n.fields));
    }
    std::string operator()(const TraceClause& n) const {
        return fmt::format("trace {} as {}", describe(*n.address), describe(*n.name));
    }
    std::string operator()(const StackClause& n) const {
        constexpr std::array kKinds{"user", "kernel", "python"};
        return fmt::format("stack {}", kKinds[static_cast<size_t>(n.kind)]);
    }
    std::string operator()(const SampleClause& n) const {
        return fmt::format("sample 1/{}", n.one_in);
    }
};

struct TargetText {
    std::string operator()(const FunctionTarget& n) const {
        return fmt::format("{0}{1}{0}:{2}", n.quoted ? "\"" : "", n.library, n.pattern);
    }
    std::string operator()(const KernelTarget& n) const { return "kernel:" + n.function.text; }
    std::string operator()(const SyscallTarget& n) const { return "syscall:" + n.name.text; }
    std::string operator()(const TracepointTarget& n) const {
        return "tracepoint:" + n.category.text + ":" + n.name.text;
    }
    std::string operator()(const UsdtTarget& n) const {
        std::string quote = n.quoted ? "\"" : "";
        return "usdt:" + quote + n.library + quote + ":" + n.provider.text + ":" + n.name.text;
    }
    std::string operator()(const DefinedTarget& n) const { return n.group + ":" + n.name.text; }
    std::string operator()(const IntervalTarget& n) const {
        return "interval:" + std::to_string(n.period_ns) + "ns";
    }
};

std::string describe_list(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string describe(const Expr& expr) {
    return std::visit(ExprText{}, expr.node);
}
std::string describe(const Clause& clause) {
    return std::visit(ClauseText{}, clause.node);
}

std::string describe(const Rule& rule) {
    std::string out =
        fmt::format("rule {} at {}:{}{}{}\n", rule.index, rule.place(), rule.entry ? " entry" : "",
                    rule.optional ? " optional" : "", rule.all ? " all" : "");
    for (const Target& target : rule.targets) {
        out += "  on " + std::visit(TargetText{}, target.node) + "\n";
    }
    for (const Glob& glob : rule.except) out += "  except " + glob.pattern + "\n";
    for (const Let& let : rule.lets)
        out += fmt::format("  let {} = {}\n", let.name, describe(*let.value));
    for (const ExprPtr& where : rule.where) out += "  where " + describe(*where) + "\n";
    for (const Clause& clause : rule.clauses) out += "  " + describe(clause) + "\n";
    return out;
}

std::string describe(const RuleSet& rules) {
    std::string out;
    for (const Library& library : rules.libraries) {
        out += fmt::format("library {} = {}", library.name, describe_list(library.files));
        if (!library.variants.empty()) out += " variants " + describe_list(library.variants);
        if (library.no_callbacks) out += " no_callbacks";
        out += "\n";
    }
    for (const Header& header : rules.headers)
        out += "header " + describe_list(header.files) + "\n";
    for (const Declaration& declaration : rules.declarations) {
        out += "declaration at " + declaration.span.place() + ": " + declaration.text + "\n";
    }
    for (const Rule& rule : rules.rules) out += describe(rule);
    return out;
}

}  // namespace mlbcc::rules
