#include "image.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace cuda_sim {
namespace {

constexpr std::string_view kFirstLine = "cuda_sim image\n";

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == line.npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Cuts the first line off `text` and returns it.
std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return trimmed(line);
}

}  // namespace

CUresult parse_image(const char* text, Image& image) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    if (std::strncmp(text, kFirstLine.data(), kFirstLine.size()) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    std::string_view rest = text + kFirstLine.size();
    while (!rest.empty()) {
        const auto name = next_line(rest);
        if (name.empty() || name.front() == '#') continue;
        const Kernel* kernel = find_kernel(name);
        if (!kernel) return CUDA_ERROR_NO_BINARY_FOR_GPU;
        image.push_back(kernel);
    }
    return CUDA_SUCCESS;
}

CUresult load_image(const char* path, Image& image) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    std::string text;
    char part[4096];
    while (const auto n = std::fread(part, 1, sizeof part, file.get())) text.append(part, n);
    return std::ferror(file.get()) ? CUDA_ERROR_FILE_NOT_FOUND : parse_image(text.c_str(), image);
}

}  // namespace cuda_sim
