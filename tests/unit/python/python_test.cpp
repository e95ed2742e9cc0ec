// Names of Python functions as the kernel hands them over, and which files are Pythons.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "python/python.h"

namespace mlbcc::python {
namespace {

namespace fs = std::filesystem;

codegen::PythonText text(std::string_view bytes, uint32_t kind = codegen::PythonText::kAscii) {
    codegen::PythonText made{};
    made.kind = kind;
    made.bytes = static_cast<uint32_t>(bytes.size());
    std::memcpy(made.data, bytes.data(), bytes.size());
    return made;
}

std::string frame(const codegen::PythonText& file, const codegen::PythonText& name) {
    return PythonFrames().name({1, 1, 0, file, name});
}

TEST(PythonFrame, IsTheFilesLastPartAndTheFunction) {
    EXPECT_EQ(frame(text("/opt/job/app.py"), text("main")), "app.py:main");
    EXPECT_EQ(frame(text("app.py"), text("<module>")), "app.py:<module>");
    EXPECT_EQ(frame(text("<frozen importlib._bootstrap>"), text("_find_and_load")),
              "<frozen importlib._bootstrap>:_find_and_load");
}

TEST(PythonFrame, FilesOfOneNameHaveTheirFolders) {
    PythonFrames frames;
    auto name = [&](const char* file) { return frames.name({1, 1, 0, text(file), text("f")}); };
    EXPECT_EQ(name("/opt/web/app.py"), "app.py:f");
    EXPECT_EQ(name("/opt/job/app.py"), "job/app.py:f");
    EXPECT_EQ(name("/srv/job/app.py"), "srv/job/app.py:f");
    EXPECT_EQ(name("/opt/web/app.py"), "app.py:f") << "as before";
    EXPECT_EQ(name("/usr/lib/python3/json/__init__.py"), "json/__init__.py:f");
    EXPECT_EQ(name("app.py"), "app.py:f") << "it has no folder";
    EXPECT_EQ(name("/app.py"), "app.py:f");
}

TEST(PythonFrame, TextOfAnyWidthIsUtf8) {
    EXPECT_EQ(frame(text("a.py"), text("f\xe4hig", 1)), "a.py:fähig");
    std::string_view two("\x70\x65\x42\x30", 4), four("\x04\xf6\x01\x00", 4);
    EXPECT_EQ(frame(text("a.py"), text(two, 2)), "a.py:数あ");
    EXPECT_EQ(frame(text("a.py"), text(four, 4)), "a.py:\U0001f604");
}

TEST(PythonFrame, WhatIsMissingOrCutIsMarked) {
    EXPECT_EQ(frame({}, {}), "?:?");
    EXPECT_EQ(frame(text(std::string(96, 'f')), text(std::string(96, 'n'))),
              "..." + std::string(96, 'f') + ":" + std::string(96, 'n') + "...");
    EXPECT_EQ(frame(text(std::string(90, 'f') + "/me.py"), text("n")), "me.py:n");
}

TEST(MayBePython, ByTheNameOfTheFile) {
    for (const char* path : {"/usr/bin/python3.11", "/x/libpython3.8.so.1.0", "python3.7m",
                             "/opt/lib/libpython3.13t.so.1.0", "/usr/bin/python2.7",
                             "/usr/bin/pypy3.9", "/usr/lib/libpypy3.9-c.so"}) {
        EXPECT_TRUE(may_be_python(path)) << path;
    }
    for (const char* path : {"/usr/bin/python3", "/usr/bin/python3.11-config", "/bin/sh", "",
                             "/usr/lib/python3.11/lib-dynload/_ctypes.so", "/usr/bin/ipython3"}) {
        EXPECT_FALSE(may_be_python(path)) << path;
    }
}

class Files : public ::testing::Test {
protected:
    Files() : folder(fs::temp_directory_path() / ("mlbcc-python-" + std::to_string(getpid()))) {
        fs::create_directories(folder);
    }
    ~Files() override { fs::remove_all(folder); }
    // A copy of this program, which is no Python: of C, not of Python, is what it has.
    std::string copied(const std::string& name) {
        // By its own name: what is said of the size of "/proc/self/exe" is that of an emulator.
        fs::copy_file(fs::read_symlink("/proc/self/exe"), folder / name);
        return (folder / name).string();
    }
    fs::path folder;
};

TEST_F(Files, AProgramOfTheNameAloneIsNone) {
    std::string path = copied("python3.11");
    auto read = read_python_file(path, path);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_FALSE(read->has_value());
}

TEST_F(Files, ALibraryOfTheNameAloneHasNoState) {
    std::string path = copied("libpython3.11.so.1.0");
    auto read = read_python_file(path, path);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), "Python 3.11 has no symbol `_PyRuntime`");
}

TEST_F(Files, VersionsAreSupportedOneByOne) {
    auto why = [&](const std::string& name) {
        std::string path = copied(name);
        auto read = read_python_file(path, path);
        return read ? "" : read.error().message();
    };
    EXPECT_EQ(why("libpython3.7m.so.1.0"), "Python 3.7 is not supported (3.8 to 3.13 are)");
    EXPECT_EQ(why("libpython3.14.so.1.0"), "Python 3.14 is not supported (3.8 to 3.13 are)");
    EXPECT_EQ(why("libpython2.7.so.1.0"), "Python 2.7 is not supported (3.8 to 3.13 are)");
    EXPECT_EQ(why("libpython3.13t.so.1.0"), "Python 3.13t is built in an unsupported way");
}

// What this program has of PyPy's.
extern "C" void rpython_startup_code() {}

TEST_F(Files, OfPypyItIsSaid) {
    for (const char* name : {"libpypy3.9-c.so", "pypy3"}) {
        const std::string path = copied(name);
        const auto read = read_python_file(path, path);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().message(), "PyPy is not supported (CPython 3.8 to 3.13 is)");
    }
    const std::string other = folder / "pypy3.10";
    fs::copy_file("/bin/true", other);  // it is all in its library
    const auto read = read_python_file(other, other);
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->has_value());
}

TEST_F(Files, AreFoundWhereLinksLead) {
    fs::create_directories(folder / "real/bin");
    fs::create_directories(folder / "real/lib");
    fs::create_directories(folder / "venv/bin");
    std::ofstream(folder / "real/bin/python3.12") << "x";
    std::ofstream(folder / "real/lib/libpython3.12.so.1.0") << "x";
    std::ofstream(folder / "real/bin/python3.12-config") << "x";
    fs::create_symlink("python3.12", folder / "real/bin/python3");
    fs::create_symlink(folder / "real/bin/python3", folder / "venv/bin/python3");
    std::string real = fs::canonical(folder / "real").string();
    EXPECT_EQ(
        likely_pythons({(folder / "venv/bin").string(), "/no/such/folder"}),
        (std::vector<std::string>{real + "/bin/python3.12", real + "/lib/libpython3.12.so.1.0"}));
}

TEST_F(Files, OfPyenvsScriptsAreItsVersions) {
    for (const char* version : {"3.9.18", "3.10.13"}) {
        fs::create_directories(folder / "versions" / version / "bin");
    }
    fs::create_directories(folder / "shims");
    std::ofstream(folder / "shims/python3.9") << "#!/bin/sh";
    std::ofstream(folder / "versions/3.9.18/bin/python3.9") << "x";
    std::ofstream(folder / "versions/3.10.13/bin/python3.10") << "x";
    std::vector<std::string> found = likely_pythons({(folder / "shims").string()});
    std::ranges::sort(found);
    std::string real = fs::canonical(folder).string();
    EXPECT_EQ(found, (std::vector<std::string>{real + "/shims/python3.9",
                                               real + "/versions/3.10.13/bin/python3.10",
                                               real + "/versions/3.9.18/bin/python3.9"}));
}

}  // namespace
}  // namespace mlbcc::python
