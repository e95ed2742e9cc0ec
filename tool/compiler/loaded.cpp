#include "compiler/loaded.h"

#include <bpf/bpf.h>

namespace mlbcc::compiler {

namespace {

void write_fd(JsonWriter& writer, UniqueFd& fd, std::vector<UniqueFd>& fds) {
    if (!fd) return;
    write(writer, "fd", fds.size());
    fds.push_back(std::move(fd));
}

void write_map(JsonWriter& writer, LoadedMap& map, std::vector<UniqueFd>& fds) {
    writer.StartObject();
    write(writer, "name", map.name);
    write(writer, "id", map.info.id);
    write_limits(writer, map.info);
    write_fd(writer, map.fd, fds);
    writer.EndObject();
}

void write_program(JsonWriter& writer, JobProgram& program, std::vector<UniqueFd>& fds) {
    writer.StartObject();
    write(writer, "name", program.name);
    write(writer, "insns", program.instructions);
    if (!program.listing.empty()) write_listing(writer, program.listing);
    write_fd(writer, program.fd, fds);
    writer.EndObject();
}

void write_timings(JsonWriter& writer, const LoadedJob& loaded) {
    writer.Key("timings");
    writer.StartObject();
    write_ms(writer, "compile_ms", loaded.compile_ms);
    write_ms(writer, "load_ms", loaded.load_ms);
    writer.EndObject();
}

}  // namespace

void write_limits(JsonWriter& writer, const MapInfo& info) {
    write(writer, "type", info.type);
    write(writer, "key_size", info.key_size);
    write(writer, "value_size", info.value_size);
    write(writer, "max_entries", info.max_entries);
    write(writer, "flags", info.flags);
}

Result<MapInfo> map_info(int fd) {
    bpf_map_info info{};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0) {
        return system_error("cannot ask the kernel about a map");
    }
    return MapInfo{info.id,         info.type,        info.key_size,
                   info.value_size, info.max_entries, info.map_flags};
}

Reply reply_of(LoadedJob loaded) {
    Reply reply;
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("ok");
    writer.Bool(true);
    writer.Key("maps");
    writer.StartArray();
    for (LoadedMap& map : loaded.maps) write_map(writer, map, reply.fds);
    writer.EndArray();
    writer.Key("programs");
    writer.StartArray();
    for (JobProgram& program : loaded.programs) write_program(writer, program, reply.fds);
    writer.EndArray();
    if (loaded.bundle) {
        write(writer, "bundle", reply.fds.size());
        reply.fds.push_back(std::move(loaded.bundle));
    }
    write(writer, "log", loaded.log);
    write_timings(writer, loaded);
    writer.EndObject();
    reply.json = {buffer.GetString(), buffer.GetSize()};
    return reply;
}

}  // namespace mlbcc::compiler
