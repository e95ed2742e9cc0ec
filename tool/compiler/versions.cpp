#include "compiler/versions.h"

#include <bcc/bcc_version.h>
#include <clang-c/Index.h>

#include "ctypes/clang_text.h"

namespace mlbcc::compiler {

Reply tell_versions() {
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.StartObject();
    writer.Key("ok");
    writer.Bool(true);
    write(writer, "clang", ctypes::text_of(clang_getClangVersion()));
    write(writer, "libbcc", LIBBCC_VERSION);
    writer.EndObject();
    return Reply{{buffer.GetString(), buffer.GetSize()}, {}};
}

}  // namespace mlbcc::compiler
