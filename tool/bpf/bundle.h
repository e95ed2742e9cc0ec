// Programs that the helper has compiled before, as bytes (tool/compiler/bundle.h): loaded without
// it. Whatever is wrong with the bytes or the machine is an Error, and the helper can be asked
// anew.
//
//   Bundle::read(bytes) -> make_maps() -> load(0), load(1), ... on any threads -> take()
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/compiler.h"

namespace mlbcc::bpf {

class Bundle {
public:
    static Result<Bundle> read(std::string bytes);

    // `existing`: maps that there are, by name; the others are made.
    Result<void> make_maps(const std::map<std::string, int>& existing);
    size_t programs() const { return programs_.size(); }
    Result<void> load(size_t program);  // once each, after make_maps()
    Compiled take();  // maps and programs, in the order that they were compiled in

private:
    struct Program {
        std::string name;
        uint32_t type = 0;
        std::optional<uint32_t> attach_type;
        size_t begin = 0, count = 0;  // bytes before it; instructions
        UniqueFd fd;
    };
    std::string bytes_;
    std::vector<CompiledMap> maps_;
    std::vector<Program> programs_;
};

}  // namespace mlbcc::bpf
