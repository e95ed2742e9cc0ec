#include "compiler/bundle.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace mlbcc::compiler {

namespace {

std::string head_of(const Job& job, const LoadedJob& loaded) {
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("maps");
    writer.StartArray();
    for (const LoadedMap& map : loaded.maps) {
        writer.StartObject();
        write(writer, "name", map.name);
        write_limits(writer, map.info);
        writer.EndObject();
    }
    writer.EndArray();
    writer.Key("programs");
    writer.StartArray();
    for (size_t i = 0; i < loaded.programs.size(); ++i) {
        const ProgramSpec& spec = job.programs[i];
        writer.StartObject();
        write(writer, "name", spec.name);
        write(writer, "type", static_cast<uint64_t>(spec.type));
        if (spec.attach_type >= 0)
            write(writer, "attach_type", static_cast<uint64_t>(spec.attach_type));
        write(writer, "insns", loaded.programs[i].code.size());
        writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
    return {buffer.GetString(), buffer.GetSize()};
}

// False where an instruction names a map that is not in the list.
bool name_maps_by_place(std::vector<bpf_insn>& code, const std::vector<LoadedMap>& maps) {
    for (size_t i = 0; i + 1 < code.size(); ++i) {
        if (code[i].code != (BPF_LD | BPF_IMM | BPF_DW)) continue;
        if (code[i].src_reg == BPF_PSEUDO_MAP_FD) {
            auto named = std::ranges::find(maps, code[i].imm, &LoadedMap::compiled_with);
            if (named == maps.end()) return false;
            code[i].imm = static_cast<int32_t>(named - maps.begin());
        } else if (code[i].src_reg != 0) {
            return false;
        }
        ++i;  // its second half is no instruction
    }
    return true;
}

bool append(int file, const void* bytes, size_t size) {
    return ::write(file, bytes, size) == static_cast<ssize_t>(size);
}

}  // namespace

Result<UniqueFd> bundle_of(const Job& job, const LoadedJob& loaded) {
    UniqueFd file(::memfd_create("mlbcc-bundle", MFD_CLOEXEC));
    if (!file) return system_error("cannot make a file in memory");
    const std::string head = head_of(job, loaded);
    const uint64_t size = head.size();
    bool whole =
        append(file.get(), &size, sizeof size) && append(file.get(), head.data(), head.size());
    for (const JobProgram& program : loaded.programs) {
        std::vector<bpf_insn> code = program.code;
        if (!name_maps_by_place(code, loaded.maps))
            return Error{"a program refers to something that is not a map"};
        whole = whole && append(file.get(), code.data(), code.size() * sizeof(bpf_insn));
    }
    if (!whole) return system_error("cannot write to a file in memory");
    return file;
}

}  // namespace mlbcc::compiler
