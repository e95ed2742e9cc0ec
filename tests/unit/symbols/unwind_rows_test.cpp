// The rows that the unwinder goes by, against those that readelf works out for the same file: each
// row of the call frame information of the C library, the loader and the C++ library.
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "symbols/cfi.h"
#include "symbols/unwind_capture.h"

#ifdef __x86_64__
namespace mlbcc::symbols {
namespace {

const std::map<std::string, int> kRegisters = {{"rbx", 3},  {"rbp", 6},  {"r12", 12}, {"r13", 13},
                                               {"r14", 14}, {"r15", 15}, {"ra", 16}};
constexpr uint8_t kFollowed[] = {6, 3, 12, 13, 14, 15, 7};

// As readelf prints a rule: c-16 in memory, v+0 itself, exp, u lost; s where there is no rule.
std::string rule_text(const CfiRow& row, int reg) {
    for (const RegisterRule& rule : row.rules) {
        if (rule.reg != reg) continue;
        switch (rule.kind) {
        case RegisterRule::Kind::undefined: return "u";
        case RegisterRule::Kind::at_cfa: return fmt::format("c{:+}", rule.offset);
        case RegisterRule::Kind::cfa_plus: return fmt::format("v{:+}", rule.offset);
        case RegisterRule::Kind::expression: return "exp";
        }
    }
    return "s";
}

std::string cfa_text(const CfiRow& row) {
    if (!row.cfa_expression.empty()) return "exp";
    static const char* const kNames[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                         "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    if (row.cfa_reg >= std::size(kNames)) return "?";
    return fmt::format("{}{:+}", kNames[row.cfa_reg], row.cfa_offset);
}

// The lines of readelf's table: "000000000003be31 rsp+16   c-16  u     c-8", below a heading
// "   LOC           CFA      rbx   rbp   ra".
class Table {
public:
    struct Row {
        uint64_t address = 0;
        std::string cfa;
        std::map<std::string, std::string> rules;  // by register
    };
    void line(const std::string& text, std::vector<Row>& rows) {
        std::istringstream in(text);
        std::vector<std::string> words;
        for (std::string word; in >> word;) words.push_back(word);
        if (words.size() > 3 && (words[3] == "FDE" || words[3] == "CIE")) {
            size_t range = text.find("..");
            end_ =
                range == std::string::npos ? 0 : std::stoull(text.substr(range + 2), nullptr, 16);
        } else if (words.size() > 2 && words[0] == "LOC") {
            columns_.assign(words.begin() + 2, words.end());
        } else if (words.size() == columns_.size() + 2 && words[0].size() == 16) {
            Row row{std::stoull(words[0], nullptr, 16), words[1], {}};
            for (size_t i = 0; i < columns_.size(); ++i) row.rules[columns_[i]] = words[i + 2];
            if (row.address < end_) rows.push_back(row);
        }
    }

private:
    std::vector<std::string> columns_;
    uint64_t end_ = 0;  // of the function; 0 outside one
};

std::vector<Table::Row> readelf_rows(const std::string& path) {
    std::vector<Table::Row> rows;
    std::string command = "readelf --debug-dump=frames-interp -wN '" + path + "' 2>/dev/null";
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return rows;
    Table table;
    char line[1024];
    while (std::fgets(line, sizeof line, pipe) != nullptr) table.line(line, rows);
    ::pclose(pipe);
    return rows;
}

// "" where both say the same. What readelf calls lost ("u") we may take as kept, and the reverse.
std::string difference(const Table::Row& expected, const CfiRow& row) {
    if (!row.known) return "no row";
    if (cfa_text(row) != expected.cfa) return cfa_text(row) + " for " + expected.cfa;
    for (const auto& [name, rule] : expected.rules) {
        auto reg = kRegisters.find(name);
        if (reg == kRegisters.end()) continue;
        std::string ours = rule_text(row, reg->second);
        bool kept =
            reg->second != 16 && (rule == "u" || rule == "s") && (ours == "u" || ours == "s");
        bool expression = ours == "exp" && rule == "vexp";
        if (ours != rule && !kept && !expression) return name + " " + ours + " for " + rule;
    }
    return {};
}

std::set<std::string> libraries() {
    std::set<std::string> paths;
    for (const Mapping& mapping : parse_maps(maps_text(::getpid()))) {
        for (const char* name : {"/libc.so.", "/ld-linux-", "/libstdc++.so."}) {
            if (mapping.path.find(name) != std::string::npos) paths.insert(mapping.path);
        }
    }
    return paths;
}

TEST(UnwindRows, AreThoseOfReadelf) {
    if (::system("readelf --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no readelf";
    ASSERT_FALSE(libraries().empty());
    for (const std::string& path : libraries()) {
        UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        auto cfi = Cfi::read(fd.get());
        ASSERT_NE(cfi, nullptr) << path;
        std::vector<Table::Row> rows = readelf_rows(path);
        EXPECT_GE(rows.size(), 1000u) << path;
        for (const Table::Row& row : rows) {
            ASSERT_EQ(difference(row, cfi->row(row.address, kFollowed)), "")
                << path << fmt::format(" at {:#x}", row.address);
        }
    }
}

}  // namespace
}  // namespace mlbcc::symbols
#endif
