#include "phases/file_group.h"

#include "text/glob.h"

namespace mlbcc::phases {
namespace {

struct Row {
    FileGroup group;
    std::string_view pattern;
};
// The first that matches. What models are saved as: safetensors, GGUF, PyTorch (zip or pickle),
// ONNX, NumPy, TensorFlow, Keras, joblib, TensorRT.
constexpr Row kRows[] = {
    {FileGroup::weights, "*.safetensors"},
    {FileGroup::weights, "*.gguf"},
    {FileGroup::weights, "*.ggml"},
    {FileGroup::weights, "*.pt"},
    {FileGroup::weights, "*.pth"},
    {FileGroup::weights, "*.ckpt"},
    {FileGroup::weights, "*.onnx"},
    {FileGroup::weights, "*.onnx_data"},
    {FileGroup::weights, "*.npz"},
    {FileGroup::weights, "*.npy"},
    {FileGroup::weights, "*.h5"},
    {FileGroup::weights, "*.keras"},
    {FileGroup::weights, "*.tflite"},
    {FileGroup::weights, "*saved_model.pb"},
    {FileGroup::weights, "*variables.data-*"},
    {FileGroup::weights, "*.pkl"},
    {FileGroup::weights, "*.pickle"},
    {FileGroup::weights, "*.joblib"},
    {FileGroup::weights, "*.engine"},
    {FileGroup::weights, "*pytorch_model*.bin"},
    {FileGroup::python, "*.py"},
    {FileGroup::python, "*.pyc"},
    {FileGroup::python, "*/python3*.zip"},
    {FileGroup::python, "*/site-packages"},
    {FileGroup::python, "*/dist-packages"},
    {FileGroup::library, "*.so"},
    {FileGroup::library, "*.so.*"},
    {FileGroup::library, "*/ld.so.cache"},
    {FileGroup::configuration, "*.json"},
    {FileGroup::configuration, "*.yaml"},
    {FileGroup::configuration, "*.yml"},
    {FileGroup::configuration, "*.toml"},
    {FileGroup::configuration, "*.cfg"},
    {FileGroup::configuration, "*.ini"},
    {FileGroup::configuration, "*.conf"},
    {FileGroup::configuration, "/etc/*"},
    {FileGroup::temporary, "/tmp/*"},
    {FileGroup::temporary, "/var/tmp/*"},
    {FileGroup::temporary, "/dev/shm/*"},
};
// Lines for `sys.path`, by their place: elsewhere the suffix is PyTorch's.
constexpr std::string_view kPythonPathFiles[] = {"*/site-packages/*.pth", "*/dist-packages/*.pth"};

}  // namespace

FileGroup group_of(std::string_view path) {
    for (std::string_view pattern : kPythonPathFiles) {
        if (glob_match(pattern, path)) return FileGroup::python;
    }
    for (const Row& row : kRows) {
        if (glob_match(row.pattern, path)) return row.group;
    }
    return FileGroup::other;
}

std::string_view name_of(FileGroup group) {
    switch (group) {
    case FileGroup::weights: return "weights";
    case FileGroup::python: return "python";
    case FileGroup::library: return "library";
    case FileGroup::configuration: return "configuration";
    case FileGroup::temporary: return "temporary";
    case FileGroup::other: return "other";
    }
    return "";
}

}  // namespace mlbcc::phases
