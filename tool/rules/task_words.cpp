#include "rules/ctypes.h"
#include "rules/lexer.h"

namespace mlbcc::rules {

TaskWords task_words(const RuleSet& rules) {
    TaskWords words;
    for (const auto& file : rules.files) {
        Lexer lexer(*file);
        bool behind_mark = false;
        for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
            const bool is_name = token.kind == TokenKind::name;
            if (is_name && behind_mark) {
                words.members.emplace(token.text());
            } else if (is_name && token.is_word("task")) {
                words.names_task = true;
            }
            behind_mark = token.kind == TokenKind::arrow || token.kind == TokenKind::dot;
        }
    }
    return words;
}

}  // namespace mlbcc::rules
