#include "requests/time_split.h"

#include <gtest/gtest.h>

namespace mlbcc::requests {
namespace {

constexpr size_t kDisk = Parts::first_reason, kLock = kDisk + 1;

struct TimeSplit : testing::Test {
    std::vector<Request> requests;
    std::vector<Request*> open;
    std::vector<WorkerNow> workers;
    uint64_t own_request = 0;

    void SetUp() override { requests.reserve(8); }
    void opens(const std::string& endpoint) {
        requests.emplace_back();
        requests.back().id = requests.size();
        requests.back().endpoint = endpoint;
        open.push_back(&requests.back());
    }
    void works(size_t candidates, size_t part, uint64_t request = 0) {
        workers.push_back({candidates, part, request});
    }
    void split(size_t own_part) {
        split_time(1000, {own_part, own_request}, open, workers);
        for (const Request& one : requests) {
            uint64_t all = 0;
            for (uint64_t ns : one.parts) all += ns;
            EXPECT_EQ(all, 1000u);
        }
    }
};

TEST_F(TimeSplit, one_request_is_with_its_worker_or_with_its_thread) {
    opens("a");
    split(Parts::cpu);
    EXPECT_EQ(requests[0].parts[Parts::cpu], 1000u);
    works(1, kDisk);
    split_time(1000, {Parts::poll}, open, workers);
    EXPECT_EQ(requests[0].parts[kDisk], 1000u);
    EXPECT_EQ(workers[0].request, 1u);
}

TEST_F(TimeSplit, the_thread_said_which_it_works_for) {
    for (const char* endpoint : {"a", "b", "c"}) opens(endpoint);
    works(3, kDisk, 3);
    own_request = 2;
    split(Parts::cpu);
    EXPECT_EQ(requests[0].parts[Parts::event_loop], 1000u);
    EXPECT_EQ(requests[1].parts[Parts::cpu], 1000u);
    EXPECT_EQ(requests[2].parts[kDisk], 1000u);
}

TEST_F(TimeSplit, a_thread_that_says_so_works_for_none) {
    for (const char* endpoint : {"a", "b"}) opens(endpoint);
    split_time(1000, {Parts::cpu, 0, true}, open, workers);
    for (const Request& one : requests) EXPECT_EQ(one.parts[Parts::event_loop], 1000u);
}

TEST_F(TimeSplit, two_workers_of_one_request) {
    opens("a");
    works(1, kDisk);
    works(1, kLock);
    split(Parts::poll);
    EXPECT_EQ(requests[0].parts[kDisk], 500u);
    EXPECT_EQ(requests[0].parts[kLock], 500u);
}

TEST_F(TimeSplit, the_other_request_has_a_worker_already) {
    for (const char* endpoint : {"a", "b"}) opens(endpoint);
    works(2, kLock);
    works(1, kDisk);
    split(Parts::poll);
    EXPECT_EQ(requests[0].parts[kDisk], 1000u);
    EXPECT_EQ(requests[1].parts[kLock], 1000u);
}

TEST_F(TimeSplit, what_was_found_out_stays) {
    for (const char* endpoint : {"a", "b"}) opens(endpoint);
    works(2, kLock, 2);
    split(Parts::cpu);
    EXPECT_EQ(requests[1].parts[kLock], 1000u);
    EXPECT_EQ(requests[0].parts[Parts::cpu], 1000u);
}

TEST_F(TimeSplit, as_many_workers_as_requests_before_a_later_one) {
    for (const char* endpoint : {"a", "a", "b"}) opens(endpoint);
    works(2, kDisk);
    works(2, kDisk);
    works(3, kLock);
    split(Parts::cpu);
    EXPECT_EQ(requests[0].parts[kDisk], 1000u);
    EXPECT_EQ(requests[1].parts[kDisk], 1000u);
    EXPECT_EQ(requests[2].parts[kLock], 1000u);
    EXPECT_EQ(workers[2].request, 3u);
}

TEST_F(TimeSplit, of_two_endpoints_it_is_not_known_which) {
    for (const char* endpoint : {"a", "b"}) opens(endpoint);
    works(2, kDisk);
    split(Parts::poll);
    for (const Request& one : requests) {
        EXPECT_EQ(one.parts[Parts::shared], 500u);
        EXPECT_EQ(one.parts[Parts::poll], 500u);
    }
    EXPECT_EQ(workers[0].request, 0u);
}

TEST_F(TimeSplit, the_thread_works_for_one_while_others_wait_for_it) {
    for (const char* endpoint : {"a", "a", "a"}) opens(endpoint);
    works(3, kDisk);
    split(Parts::cpu);
    uint64_t disk = 0, cpu = 0, loop = 0;
    for (const Request& one : requests) {
        disk += one.parts[kDisk];
        cpu += one.parts[Parts::cpu];
        loop += one.parts[Parts::event_loop];
    }
    EXPECT_NEAR(static_cast<double>(disk), 1000, 3);
    EXPECT_NEAR(static_cast<double>(cpu), 1000, 3);
    EXPECT_NEAR(static_cast<double>(loop), 1000, 6);
}

TEST_F(TimeSplit, a_worker_whose_request_is_over_is_left_out) {
    opens("a");
    works(1, kDisk, 7);
    split(Parts::poll);
    EXPECT_EQ(requests[0].parts[Parts::poll], 1000u);
}

}  // namespace
}  // namespace mlbcc::requests
