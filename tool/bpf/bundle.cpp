#include "bpf/bundle.h"

#include <bpf/bpf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "text/json.h"

namespace mlbcc::bpf {
namespace {

Error broken() {
    return Error{"the cached programs are damaged"};
}

bool is_list_of_objects(const rapidjson::Value* value) {
    if (value == nullptr || !value->IsArray()) return false;
    return std::ranges::all_of(value->GetArray(), [](const auto& one) { return one.IsObject(); });
}

bool names_map(const bpf_insn& instruction) {
    return instruction.code == (BPF_LD | BPF_IMM | BPF_DW) &&
           instruction.src_reg == BPF_PSEUDO_MAP_FD;
}

}  // namespace

Result<Bundle> Bundle::read(std::string bytes) {
    Bundle made;
    made.bytes_ = std::move(bytes);
    uint64_t size = 0;
    if (made.bytes_.size() < sizeof size) return broken();
    std::memcpy(&size, made.bytes_.data(), sizeof size);
    if (size > made.bytes_.size() - sizeof size) return broken();
    rapidjson::Document head;
    head.Parse(made.bytes_.data() + sizeof size, size);
    if (head.HasParseError() || !is_list_of_objects(json::field(head, "maps")) ||
        !is_list_of_objects(json::field(head, "programs")))
        return broken();
    for (const rapidjson::Value* one : json::list_of(head, "maps")) {
        CompiledMap& map = made.maps_.emplace_back();
        map.name = json::text_of(*one, "name");
        map.type = json::u32_of(*one, "type");
        map.key_size = json::u32_of(*one, "key_size");
        map.value_size = json::u32_of(*one, "value_size");
        map.max_entries = json::u32_of(*one, "max_entries");
        map.flags = json::u32_of(*one, "flags");
    }
    size_t begin = sizeof size + size;
    for (const rapidjson::Value* one : json::list_of(head, "programs")) {
        Program& program = made.programs_.emplace_back();
        program.name = json::text_of(*one, "name");
        program.type = json::u32_of(*one, "type");
        if (json::field(*one, "attach_type") != nullptr)
            program.attach_type = json::u32_of(*one, "attach_type");
        program.begin = begin;
        program.count = json::u32_of(*one, "insns");
        begin += program.count * sizeof(bpf_insn);
    }
    if (begin != made.bytes_.size()) return broken();
    return made;
}

Result<void> Bundle::make_maps(const std::map<std::string, int>& existing) {
    for (CompiledMap& map : maps_) {
        if (auto known = existing.find(map.name); known != existing.end()) {
            map.fd.reset(::fcntl(known->second, F_DUPFD_CLOEXEC, 4));
        } else {
            LIBBPF_OPTS(bpf_map_create_opts, options);
            options.map_flags = map.flags;
            map.fd.reset(bpf_map_create(static_cast<bpf_map_type>(map.type), map.name.c_str(),
                                        map.key_size, map.value_size, map.max_entries, &options));
        }
        if (!map.fd) return system_error("cannot make the BPF map " + map.name);
    }
    return {};
}

Result<void> Bundle::load(size_t index) {
    Program& program = programs_[index];
    std::vector<bpf_insn> code(program.count);
    std::memcpy(code.data(), bytes_.data() + program.begin, code.size() * sizeof(bpf_insn));
    for (size_t i = 0; i < code.size(); ++i) {
        if (!names_map(code[i])) continue;
        const auto place = static_cast<size_t>(code[i].imm);
        if (place >= maps_.size()) return broken();
        code[i].imm = maps_[place].fd.get();
    }
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    if (program.attach_type) {
        options.expected_attach_type = static_cast<bpf_attach_type>(*program.attach_type);
    }
    program.fd.reset(bpf_prog_load(static_cast<bpf_prog_type>(program.type), program.name.c_str(),
                                   "GPL", code.data(), code.size(), &options));
    if (!program.fd) return system_error("the kernel refuses the program `" + program.name + "`");
    return {};
}

Compiled Bundle::take() {
    Compiled compiled;
    compiled.maps = std::move(maps_);
    for (Program& program : programs_) {
        compiled.programs.push_back({.name = program.name,
                                     .instructions = static_cast<uint32_t>(program.count),
                                     .fd = std::move(program.fd)});
    }
    return compiled;
}

}  // namespace mlbcc::bpf
