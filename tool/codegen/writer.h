// Writes one shape's C. A Writer is at one end of a call: values known at entry are read there from
// registers and memory, at return from the frame they were saved in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/codegen.h"

namespace mlbcc::codegen {

class CodeWriter {
public:
    CodeWriter(const plan::Plan& plan, const plan::ProbePlan& probe, rules::Stage stage)
        : plan_(plan), probe_(probe), stage_(stage) {}

    // A C expression of type u64 or s64; statements that it needs go to the body first.
    std::string number(const rules::Typed& value);
    // The unconverted 64-bit register of a parameter, or number() of anything else.
    std::string raw(const rules::Typed& value);
    // Statements that put text of `size` bytes at the C lvalue `to` (an array of char).
    void text_to(const std::string& to, uint32_t size, const rules::Typed& value);
    // Statements that store any value as a record, a key or a frame holds it.
    void store(const std::string& to, uint32_t size, const rules::Typed& value, bool as_raw);
    std::string condition(const rules::Typed& value);
    // Of a value written before: C that is 1 where memory it reads could not be read, or where it
    // is not known otherwise, else 0.
    std::string failed(const rules::Typed& value) const;  // empty: it reads none
    uint32_t unread_bit(const plan::Saved& saved) const;  // in its frame

    // Adds to the C variable `missing` whether memory that the value is read from is in no page
    // yet.
    void look_for_memory(const rules::Typed& value);
    void read_stack_arguments(const std::vector<rules::TypedPtr>& values);  // of several, at once
    // What was read so: C for a word of the call's stack; empty: it was not.
    std::string known_stack_word(uint32_t index) const;
    // One read for all that these values read at one pointer within `most` bytes, where they do so
    // more than once.
    void read_together(const std::vector<rules::TypedPtr>& values, uint32_t most);
    const char* stack_reader() const;
    std::string return_value() const;

    // C for the room of the probe (rooms.h), 0 where there is none for the thread.
    std::string room();
    // Whether `thread` is the thread's state, and not 0, in what is written from here on.
    void has_thread(bool so) { has_thread_ = so; }

    void line(std::string_view text);  // appends an indented statement
    // Between the two, what is computed is in a C block: its names are not used behind it.
    void open_block(std::string_view head = "{");
    void close_block();
    void place(const Span& span);  // #line of the rule's text, whose work follows
    // Likewise, without a #line.
    void part(std::vector<Span> rules, bool is_begin = true);
    Source take() { return std::move(body_); }

private:
    friend struct NumberVisitor;
    std::string argument(uint32_t param, uint32_t word);
    std::string trace_field(const target::TraceField& field);
    std::string defined_field(uint32_t param) const;
    std::string usdt_argument(uint32_t param);
    bool reads_program() const;
    bool is_unsure_duration(const rules::Typed& value) const;
    std::string read(const std::string& to, uint32_t size, const std::string& from,
                     bool of_task) const;
    std::string read_text(const rules::TextNode& text) const;  // the function to call
    std::string read_word(const plan::ArgSlot& slot, uint32_t word, const std::string& from);
    std::string stack_word(uint32_t index);  // at entry
    std::string load(const rules::LoadNode& node, const rules::Typed& value);
    std::string loaded(const rules::LoadNode& node, const rules::Typed& value,
                       const std::string& bits) const;
    struct Together {  // `words` hold what is at `pointer` + `offset`
        struct Part {
            uint32_t offset = 0, size = 0;  // from the first word; bytes
            bool operator==(const Part&) const = default;
        };
        std::string words;
        uint32_t offset = 0, bytes = 0;
        std::vector<Part> parts;
    };
    bool can_be_together(const rules::LoadNode& node) const;
    void find_together(const rules::Typed& value, uint32_t most,
                       std::map<std::string, std::pair<rules::TypedPtr, Together>>& found) const;
    void read_parts(const rules::TypedPtr& pointer, const Together& all);
    std::string part_of(const rules::LoadNode& node, const rules::Typed& value);
    std::string address(const rules::TypedPtr& pointer, const rules::TypedPtr& index,
                        uint32_t scale, uint32_t offset);
    std::string text_equals(const rules::BinaryNode& node);
    std::string text_ends(const rules::Typed& text, uint32_t size, const std::string& literal);
    std::string compared_text(const rules::Typed& value, uint32_t size);  // its name
    std::string text_in_room(const rules::Typed& value, uint32_t size);   // likewise; may be 0
    const plan::Saved* saved(const rules::Typed& value) const;
    std::string saved_number(const plan::Saved& saved);
    std::string temporary() { return "v" + std::to_string(next_++); }

    const plan::Plan& plan_;
    const plan::ProbePlan& probe_;
    rules::Stage stage_;
    Source body_;
    using Known = std::map<std::string, std::string>;  // canonical text to C expression
    Known known_;
    std::map<std::string, Together> together_;  // by the pointer's canonical text
    struct Block {
        Known known;                               // before it
        std::map<std::string, Together> together;  // likewise
        Origin origin;                             // likewise
    };
    bool has_thread_ = false;
    std::vector<Block> outside_;  // of each open block
    uint32_t next_ = 0;
};

// `expr` (64 bits of a register) as the C value of `size` bytes: "(s64)(s32)(x)".
std::string converted(const std::string& expr, const rules::Typed& value, const plan::Plan& plan);

}  // namespace mlbcc::codegen
