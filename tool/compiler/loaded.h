// What a "compile" request is answered with: maps and programs, described, with their descriptors.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/listing.h"
#include "compiler/reply.h"

namespace mlbcc::compiler {

struct MapInfo {
    uint32_t id = 0, type = 0;
    uint32_t key_size = 0, value_size = 0;  // bytes
    uint32_t max_entries = 0, flags = 0;
};

struct LoadedMap {
    std::string name;
    MapInfo info;
    UniqueFd fd;             // empty: only described
    int compiled_with = -1;  // the descriptor that instructions have
};
struct JobProgram {
    std::string name;
    size_t instructions = 0;
    std::vector<bpf_insn> code;   // where a bundle is asked for
    std::vector<Listed> listing;  // where it is asked for
    UniqueFd fd;                  // empty: compiled, not loaded
};

struct LoadedJob {
    std::vector<LoadedMap> maps;
    std::vector<JobProgram> programs;
    std::string log;  // clang's warnings
    UniqueFd bundle;  // bundle.h; empty: not asked for, or it cannot be one
    double compile_ms = 0, load_ms = 0;
};

void write_limits(JsonWriter& writer, const MapInfo& info);  // all but the id

// What the kernel says of a map.
Result<MapInfo> map_info(int fd);

Reply reply_of(LoadedJob loaded);

}  // namespace mlbcc::compiler
