#include "requests/finished_requests.h"

#include <gtest/gtest.h>

namespace mlbcc::requests {
namespace {

class Counted : public TakeRequest {
public:
    void request(const Request&, RequestEnd) override { ++count; }
    int count = 0;
};

Request of(uint64_t id, uint64_t duration_ns) {
    Request one;
    one.id = id;
    one.begin_ns = 100;
    one.end_ns = 100 + duration_ns;
    return one;
}

std::vector<uint64_t> taken(FinishedRequests& requests) {
    std::vector<uint64_t> ids;
    for (const Request& one : requests.take()) ids.push_back(one.id);
    return ids;
}

TEST(FinishedRequests, AreKeptOnlyWhereTheyAreWanted) {
    Counted next;
    FinishedRequests requests(next);
    requests.request(of(1, 5), RequestEnd::answered);
    EXPECT_EQ(taken(requests), std::vector<uint64_t>{});
    requests.keep(1, 4);
    requests.request(of(2, 5), RequestEnd::answered);
    requests.request(of(3, 3), RequestEnd::answered);
    requests.request(of(4, 5), RequestEnd::closed);
    requests.request(of(5, 4), RequestEnd::answered);
    EXPECT_EQ(taken(requests), (std::vector<uint64_t>{2, 5}));
    EXPECT_EQ(taken(requests), std::vector<uint64_t>{});
    EXPECT_EQ(next.count, 5);
}

TEST(FinishedRequests, OneOfSoManyAndNoMoreThanThereIsRoomFor) {
    Counted next;
    FinishedRequests requests(next);
    requests.keep(3, 0, 2);
    for (uint64_t id = 1; id <= 12; ++id) requests.request(of(id, 1), RequestEnd::answered);
    EXPECT_EQ(taken(requests), (std::vector<uint64_t>{1, 4}));
    EXPECT_EQ(requests.left_out(), 2u);
    requests.request(of(13, 1), RequestEnd::answered);
    EXPECT_EQ(taken(requests), std::vector<uint64_t>{13});
}

}  // namespace
}  // namespace mlbcc::requests
