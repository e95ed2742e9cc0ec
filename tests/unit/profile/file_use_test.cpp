#include "profile/file_use.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "saved/made.h"

namespace mlbcc::profile {
namespace {

using namespace mlbcc::test;

saved::EventFields open_of(std::string_view path, int64_t inode, int64_t flags = O_RDONLY,
                           int64_t size = 1000, int64_t generation = 0) {
    return event_fields("file", "open", 50, 1, 1,
                        {{"path", path},
                         {"flags", flags},
                         {"inode", inode},
                         {"device", int64_t{8}},
                         {"generation", generation},
                         {"size", size}});
}
saved::EventFields read_of(int64_t inode, int64_t position, int64_t bytes, uint64_t time) {
    return event_fields(
        "file", "read", time, 1, 1,
        {{"inode", inode}, {"device", int64_t{8}}, {"position", position}, {"bytes", bytes}}, 5);
}
sink::Group key(const char* inode, const char* generation = "0") {
    return {{"inode", inode}, {"device", "8"}, {"generation", generation}};
}

TEST(FileUses, sums_find_their_files_and_groups) {
    FileUses files;
    files.add(open_of("/models/a.safetensors", 5));
    files.add(open_of("/models/a.safetensors", 5, O_RDWR, 2000));
    files.add(open_of("/usr/lib/libc.so.6", 6));
    files.add(
        event_fields("file", "map", 60, 1, 1,
                     {{"inode", int64_t{6}}, {"device", int64_t{8}}, {"bytes", int64_t{700}}}));
    sink::MetricSnapshot metrics;
    metrics.stats = {
        stat("read from file", key("5"), 4000, 3), stat("read from file", key("9"), 11, 1),
        stat("time reading file", key("5"), 77, 3), stat("written to file", key("5"), 20, 2)};
    FileReport report = files.report(metrics);
    ASSERT_EQ(report.files.size(), 2u);
    const FileUse& weights = report.files[0];
    EXPECT_EQ(weights.path, "/models/a.safetensors");
    EXPECT_EQ(weights.group, phases::FileGroup::weights);
    EXPECT_EQ(weights.opens, 2u);
    EXPECT_TRUE(weights.for_reading && weights.for_writing);
    EXPECT_EQ(weights.size, 2000u);
    EXPECT_EQ(weights.read_bytes, 4000u);
    EXPECT_EQ(weights.reads, 3u);
    EXPECT_EQ(weights.read_ns, 77u);
    EXPECT_EQ(weights.written_bytes, 20u);
    EXPECT_EQ(weights.times_read(), 2.0);
    EXPECT_EQ(report.files[1].mapped_bytes, 700u);
    EXPECT_FALSE(report.files[1].for_writing);
    EXPECT_EQ(report.groups[0].read_bytes, 4000u);
    EXPECT_EQ(report.groups[0].time_ns, 77u);
    EXPECT_EQ(report.groups[2].files, 1u);
    EXPECT_EQ(report.unnamed_read_bytes, 11u);
}

TEST(FileUses, an_inode_that_is_used_again_is_another_files) {
    FileUses files;
    files.add(open_of("first.bin", 5, O_WRONLY, 0, 17));
    files.add(open_of("second.bin", 5, O_WRONLY, 0, 18));
    sink::MetricSnapshot metrics;
    metrics.stats = {stat("written to file", key("5", "17"), 100, 1),
                     stat("written to file", key("5", "18"), 200, 1)};
    const FileReport report = files.report(metrics);
    ASSERT_EQ(report.files.size(), 2u);
    EXPECT_EQ(report.files[0].path, "second.bin");
    EXPECT_EQ(report.files[0].written_bytes, 200u);
    EXPECT_EQ(report.files[1].written_bytes, 100u);
}

TEST(FileUses, who_has_an_io_uring_is_named_once) {
    FileUses files;
    for (uint64_t time : {50, 60}) files.add(event_fields("file", "ring", time, 7, 7, {}));
    const FileReport report = files.report({});
    ASSERT_EQ(report.rings.size(), 1u);
    EXPECT_EQ(report.rings[0].pid, 7u);
}

Access access_with(const std::vector<int64_t>& positions, uint64_t seeks) {
    FileUses files;
    files.add(open_of("w.bin", 5));
    uint64_t time = 100;
    for (int64_t position : positions) files.add(read_of(5, position, 10, time += 10));
    sink::MetricSnapshot metrics;
    metrics.stats = {stat("read from file", key("5"), 100, 10),
                     stat("seeks in file", key("5"), seeks, seeks)};
    return files.report(metrics).files[0].access;
}

TEST(FileUses, access_is_told_by_where_large_reads_were_or_else_by_seeks) {
    EXPECT_EQ(access_with({0, 10, 25}, 9), Access::sequential);
    EXPECT_EQ(access_with({50, 10, 70, 0}, 0), Access::random);
    EXPECT_EQ(access_with({}, 3), Access::sequential);
    EXPECT_EQ(access_with({}, 10), Access::random);
    FileUses files;
    files.add(open_of("w.bin", 5));
    EXPECT_EQ(files.report({}).files[0].access, Access::none);
}

TEST(FileUses, large_reads_have_times) {
    FileUses files;
    files.add(open_of("w.bin", 5));
    files.add(read_of(5, 0, 10, 200));
    files.add(read_of(5, 10, 10, 300));
    FileUse use = files.report({}).files[0];
    EXPECT_EQ(use.first_open_ns, 50u);
    EXPECT_EQ(use.first_read_ns, 200u);
    EXPECT_EQ(use.last_read_ns, 305u);
}

TEST(FileUses, searches_in_vain_are_counted_by_path) {
    FileUses files;
    for (const char* path : {"/a", "/b", "/b"}) {
        files.add(event_fields("file", "missing", 1, 1, 1, {{"path", path}}, 4));
    }
    FileReport::Missing missing = files.report({}).missing;
    EXPECT_EQ(missing.searches, 3u);
    EXPECT_EQ(missing.time_ns, 12u);
    EXPECT_EQ(missing.paths, (std::vector<std::pair<std::string, uint64_t>>{{"/b", 2}, {"/a", 1}}));
}

TEST(FileGroups, are_known_by_the_path) {
    EXPECT_EQ(phases::group_of("/m/model-00001-of-2.safetensors"), phases::FileGroup::weights);
    EXPECT_EQ(phases::group_of("model.pth"), phases::FileGroup::weights);
    EXPECT_EQ(phases::group_of("/usr/lib/python3/dist-packages/x.pth"), phases::FileGroup::python);
    EXPECT_EQ(phases::group_of("/usr/lib/python3.11/enum.py"), phases::FileGroup::python);
    EXPECT_EQ(phases::group_of("/usr/lib/x86_64-linux-gnu/libc.so.6"), phases::FileGroup::library);
    EXPECT_EQ(phases::group_of("/m/config.json"), phases::FileGroup::configuration);
    EXPECT_EQ(phases::group_of("/tmp/x"), phases::FileGroup::temporary);
    EXPECT_EQ(phases::group_of("/proc/self/maps"), phases::FileGroup::other);
}

}  // namespace
}  // namespace mlbcc::profile
