// Stacks with a weight, each distinct one once: what a flame graph is drawn from.
//
//   comm "app", frames {"app:work+0x12", "libc.so.6+0x2a", "app:main+0x9"}, innermost first, 3
//       ->  "app;main;0x2a [libc.so.6];work 3"
//
// Memory is bounded: stacks that are seen once it is full are only counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mlbcc::sink {

// "libffi.so.8:ffi_call+0x123" -> "ffi_call", "libffi.so.8+0x7a31" -> "0x7a31 [libffi.so.8]", other
// frames as they are; without what a reader of folded stacks would take for more than a name.
std::string folded_name(std::string_view frame);

inline constexpr std::string_view kOtherStacks = "[other stacks]";  // that found no room

class FoldedStacks {
public:
    using Id = uint32_t;
    // Takes "comm;outermost;...;innermost" and its weight.
    using TakeLine = std::function<void(std::string_view stack, uint64_t weight)>;

    explicit FoldedStacks(size_t max_bytes = 64 << 20) : max_bytes_(max_bytes) {}

    // `function` was called by the innermost of `frames`; "": it is the innermost. Nullopt if there
    // is no room for it.
    std::optional<Id> id_of(std::string_view comm, std::span<const std::string_view> frames,
                            std::string_view function);
    void add(Id stack, uint64_t weight) { stacks_[stack].weight += weight; }

    size_t size() const { return stacks_.size(); }
    void each_line(const TakeLine& take) const;  // in the order of their names

private:
    using NameId = uint32_t;
    using Names = std::vector<NameId>;  // outermost first
    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    struct NamesHash {
        size_t operator()(const Names& names) const;
    };
    struct Stack {
        const Names* names;
        uint64_t weight = 0;
    };

    // Frames with the same key are one name.
    bool add_name(std::string_view key, std::optional<std::string_view> frame = {});
    bool take_room(size_t bytes);
    std::vector<Id> in_order() const;

    size_t max_bytes_, bytes_ = 0;
    std::unordered_map<std::string, NameId, TextHash, std::equal_to<>> name_ids_;
    std::vector<std::string> names_;  // by NameId, as they are shown
    std::unordered_map<Names, Id, NamesHash> stack_ids_;
    std::vector<Stack> stacks_;  // by Id
    Names wanted_;
};

}  // namespace mlbcc::sink
