// A file's path to what kind of file it is for an ML job.
//
//   "/models/llama.safetensors" -> weights    "/usr/lib/python3.11/enum.py" -> python
#pragma once

#include <string_view>

namespace mlbcc::phases {

enum class FileGroup { weights, python, library, configuration, temporary, other };
inline constexpr FileGroup kFileGroups[] = {FileGroup::weights,   FileGroup::python,
                                            FileGroup::library,   FileGroup::configuration,
                                            FileGroup::temporary, FileGroup::other};

FileGroup group_of(std::string_view path);
std::string_view name_of(FileGroup group);  // as it stands in JSON

}  // namespace mlbcc::phases
