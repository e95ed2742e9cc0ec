// Files of tests/golden/ that outputs are compared with. MLBCC_UPDATE_GOLDEN=1 writes them anew.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace mlbcc::test {

inline std::string read_all(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void expect_golden(const std::string& name, const std::string& actual) {
    std::string path = std::string(MLBCC_TEST_DATA) + "/golden/" + name;
    if (std::getenv("MLBCC_UPDATE_GOLDEN") != nullptr)
        std::ofstream(path, std::ios::binary) << actual;
    EXPECT_EQ(read_all(path), actual) << path;
}

}  // namespace mlbcc::test
