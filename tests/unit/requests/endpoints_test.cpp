// What is known of endpoints: errors, the part that makes slow requests slow, and bounded memory.
#include "requests/endpoints.h"

#include <string>

#include <gtest/gtest.h>

#include "sink/frames.h"

namespace mlbcc::requests {
namespace {

constexpr size_t kLock = Parts::first_reason;

Request made(const std::string& endpoint, uint64_t cpu_ns, uint64_t locked_ns,
             unsigned status = 200) {
    Request one;
    one.endpoint = endpoint;
    one.begin_ns = 1000;
    one.end_ns = 1000 + cpu_ns + locked_ns;
    one.answered = true;
    one.status = status;
    one.parts[Parts::cpu] = cpu_ns;
    one.parts[kLock] = locked_ns;
    return one;
}

TEST(Endpoints, SlowRequestsAreSlowByWhatGrows) {
    Endpoints all(0);
    for (int i = 0; i < 90; ++i) all.request(made("GET /a", 1'000'000, 1000), RequestEnd::answered);
    for (int i = 0; i < 10; ++i)
        all.request(made("GET /a", 1'000'000, 9'000'000), RequestEnd::answered);
    ASSERT_EQ(all.all().size(), 1u);
    const EndpointUse& use = *all.all()[0];
    EXPECT_EQ(use.most(), size_t{Parts::cpu});
    EXPECT_EQ(use.hotspot(), size_t{kLock});
    EXPECT_EQ(use.parts[Parts::cpu] + use.parts[kLock], use.time_ns);
}

TEST(Endpoints, WaitingToRunIsOfTheCpu) {
    Endpoints all(0);
    Request one = made("GET /a", 2'000'000, 7'000'000);
    one.end_ns += 6'000'000;
    one.parts[Parts::run_queue] = 6'000'000;
    all.request(one, RequestEnd::answered);
    EXPECT_EQ(all.all()[0]->most(), size_t{kLock});
    EXPECT_EQ(all.all()[0]->hotspot(), size_t{Parts::cpu});
}

TEST(Endpoints, WaitingForTheInterpretersLockIsOfTheCpu) {
    Endpoints all(0);
    for (int i = 0; i < 90; ++i) all.request(made("GET /a", 1'000'000, 1000), RequestEnd::answered);
    for (int i = 0; i < 10; ++i) {
        Request one = made("GET /a", 2'000'000, 7'000'000);
        one.end_ns += 8'000'000;
        one.parts[Parts::gil] = 8'000'000;
        all.request(one, RequestEnd::answered);
    }
    EXPECT_EQ(all.all()[0]->hotspot(), size_t{Parts::cpu});
}

TEST(Endpoints, WhereAllTakeAboutAsLongItIsTheLargestPart) {
    Endpoints all(0);
    for (uint64_t i = 0; i < 100; ++i)
        all.request(made("GET /a", 1'000'000 + i * 1000, 2000), RequestEnd::answered);
    EXPECT_EQ(all.all()[0]->hotspot(), size_t{Parts::cpu});
}

TEST(Endpoints, TheSlowestAreKept) {
    Endpoints all(0);
    for (uint64_t took : {5, 9, 1, 7, 9, 3}) {
        Request one = made("GET /a", took, 0);
        one.tid = static_cast<uint32_t>(took);
        all.request(one, RequestEnd::answered);
    }
    const std::vector<SlowRequest>& slowest = all.all()[0]->slowest;
    ASSERT_EQ(slowest.size(), EndpointUse::kSlowest);
    EXPECT_EQ(slowest[0].duration_ns, 9u);
    EXPECT_EQ(slowest[1].duration_ns, 9u);
    EXPECT_EQ(slowest[2].duration_ns, 7u);
    EXPECT_EQ(slowest[2].tid, 7u);
    EXPECT_EQ(slowest[2].parts[Parts::cpu], 7u);
}

TEST(Endpoints, ErrorsShortOnesAndThoseWithoutAnAnswer) {
    Endpoints all(500);
    all.request(made("GET /a", 1000, 0, 404), RequestEnd::answered);
    all.request(made("GET /a", 1000, 0, 503), RequestEnd::answered);
    all.request(made("GET /a", 100, 0), RequestEnd::answered);
    all.request(made("GET /a", 100, 0), RequestEnd::closed);
    const EndpointUse& use = *all.all()[0];
    EXPECT_EQ(use.requests, 2u);
    EXPECT_EQ(use.client_errors, 1u);
    EXPECT_EQ(use.server_errors, 1u);
    EXPECT_EQ(use.unanswered, 1u);
    EXPECT_EQ(all.shorter(), 1u);
}

TEST(Endpoints, OfTooManyTheLaterOnesAreTakenTogether) {
    Endpoints all(0);
    for (size_t i = 0; i < Endpoints::kMost + 50; ++i)
        all.request(made("GET /" + std::to_string(i), 1000, 0), RequestEnd::answered);
    ASSERT_EQ(all.all().size(), Endpoints::kMost + 1);
    EXPECT_EQ(all.all()[0]->name, "other");
    EXPECT_EQ(all.all()[0]->requests, 50u);
}

TEST(Endpoints, PlacesAreBounded) {
    Endpoints all(0);
    for (size_t i = 0; i < EndpointUse::kPlaces + 5; ++i) {
        Request one = made("GET /a", 1000, 1000 + i);
        one.places[{kLock, {"wait", std::to_string(i)}}] = {2, 1000 + i};
        all.request(one, RequestEnd::answered);
        all.request(one, RequestEnd::answered);
    }
    const EndpointUse& use = *all.all()[0];
    EXPECT_EQ(use.places.size(), EndpointUse::kPlaces);
    EXPECT_EQ(use.waits_elsewhere, 5u * 2 * 2);
    const auto& [place, sum] = *longest(use.places)[0];
    EXPECT_EQ(sum.waits, 4u);
    EXPECT_EQ(sum.time_ns, 2 * (1000 + EndpointUse::kPlaces - 1));
    EXPECT_EQ(sink::short_stack(place.stack), "wait < 99");
    EXPECT_EQ(use.slowest[0].places.size(), 1u);
}

TEST(Endpoints, StacksAreShownShort) {
    EXPECT_EQ(sink::short_stack({"futex", "native", "app.py:inner", "eval", "app.py:outer"}),
              "futex < app.py:inner < app.py:outer");
    EXPECT_EQ(sink::short_stack({"a", "b", "c", "d", "e"}), "a < b < c < d < ...");
    EXPECT_EQ(sink::short_stack({}), "");
}

}  // namespace
}  // namespace mlbcc::requests
