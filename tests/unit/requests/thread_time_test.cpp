// The time of a server's threads to its requests.
#include "requests/server.h"

namespace mlbcc::requests {
namespace {

TEST_F(Server, marks_tell_which_request_a_thread_works_for) {
    auto marks = [&](uint64_t at, uint64_t request, uint32_t tid = 1) {
        ServeEvent one{Kind::mark, at, at, 1, tid};
        one.request = request;
        on.add(one);
    };
    auto answers = [&](uint64_t at, int64_t fd) {
        on.add({Kind::send, at, at, 1, 1, fd, kOk.size() + 2, 0, kOk + "ok"});
    };
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 110, 1, 6, kOther);
    marks(120, 77);  // of one of them: it is not known of which
    marks(150, 0);
    marks(150, 78);
    marks(180, 0);
    marks(185, 78, 9);  // another thread takes it
    waits(190, 290, 0, 9, "disk");
    marks(300, 0, 9);
    waits(180, 310, 0, 1, "poll");
    marks(310, 78);
    answers(320, 6);
    marks(330, 77);
    answers(340, 5);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 2u);
    const Request& b = taken.answered[0];
    EXPECT_EQ(b.endpoint, "GET /b");
    EXPECT_EQ(b.parts[Parts::shared], 0u);
    EXPECT_EQ(part(b, "disk"), 100u);
    EXPECT_EQ(part(b, "cpu"), 30u + 15 + 10);
    EXPECT_EQ(sum(b.parts), 210u);
    EXPECT_EQ(b.work_ns(), 320u - 150);
    const Request& a = taken.answered[1];
    EXPECT_EQ(part(a, "disk"), 0u);
    EXPECT_EQ(part(a, "cpu"), 10u + 30 + 10);  // while it was the only one
    EXPECT_EQ(sum(a.parts), 240u);
    EXPECT_EQ(a.work_ns(), 340u - 120);
}

TEST_F(Server, waits_with_stacks_are_kept_with_their_requests) {
    auto waits_at = [&](uint64_t begin, uint64_t end, std::string reason, std::string function) {
        ServeEvent one{Kind::wait, begin, end, 1, 1, -1, 0, 0, std::move(reason)};
        if (!function.empty()) one.stack = {std::move(function), "main"};
        on.add(one);
    };
    happens(Kind::accept, 80, 1, 5);
    waits_at(82, 95, "network", "recv");  // of none
    happens(Kind::receive, 100, 1, 5, kGet);
    waits_at(110, 120, "lock", "acquire");
    waits_at(120, 150, "disk", "read");
    waits_at(160, 180, "lock", "acquire");
    waits_at(185, 186, "lock", "");
    waits_at(187, 190, "poll", "epoll_wait");
    happens(Kind::send, 200, 1, 5, kOk + "ok");
    waits_at(210, 240, "lock", "acquire");
    ASSERT_EQ(taken.answered.size(), 1u);
    Parts parts = on.parts();
    const WaitPlaces& places = taken.answered[0].places;
    ASSERT_EQ(places.size(), 2u);
    const PlaceUse& lock = places.at({parts.index("lock"), {"acquire", "main"}});
    EXPECT_EQ(lock.waits, 2u);
    EXPECT_EQ(lock.time_ns, 30u);
    EXPECT_EQ(places.at({parts.index("disk"), {"read", "main"}}).time_ns, 30u);
}

TEST_F(Server, parts_of_rules_lie_in_each_other) {
    auto part_of_rule = [&](Kind kind, uint64_t at, std::string name = {}, uint32_t tid = 1) {
        on.add({kind, at, at, 1, tid, -1, 0, 0, std::move(name)});
    };
    part_of_rule(Kind::begin, 90, "model");  // of no request; its end is lost
    happens(Kind::accept, 95, 1, 5);
    happens(Kind::receive, 100, 1, 5, kGet);
    part_of_rule(Kind::begin, 110, "model");
    waits(120, 150, 10, 1, "lock");
    part_of_rule(Kind::begin, 160, "GPU wait");
    waits(165, 180, 0, 1, "device");
    part_of_rule(Kind::end, 190);
    part_of_rule(Kind::end, 195);
    part_of_rule(Kind::end, 196);  // one too many
    on.add({Kind::send, 200, 230, 1, 1, 5, kOk.size() + 2, 0, kOk + "ok"});
    ASSERT_EQ(taken.answered.size(), 1u);
    const Request& one = taken.answered[0];
    EXPECT_EQ(part(one, "model"), 10u + 20 + 10 + 5);
    EXPECT_EQ(part(one, "run queue"), 10u);
    EXPECT_EQ(part(one, "GPU wait"), 30u);
    EXPECT_EQ(part(one, "sending"), 30u);
    EXPECT_EQ(part(one, "cpu"), 10u + 5);
    EXPECT_EQ(sum(one.parts), 130u);
}

TEST_F(Server, two_at_once_on_a_thread_share_but_for_its_idle_time) {
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 120, 1, 6, kOther);
    waits(130, 150, 0, 1, "poll");
    happens(Kind::send, 160, 1, 5, kOk + "ok");
    happens(Kind::send, 190, 1, 6, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(part(taken.answered[0], "shared"), 20u);
    EXPECT_EQ(part(taken.answered[0], "poll"), 20u);
    EXPECT_EQ(part(taken.answered[0], "cpu"), 20u);
    EXPECT_EQ(part(taken.answered[1], "shared"), 20u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 30u);
}

TEST_F(Server, two_of_an_endpoint_have_the_same_share) {
    for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
    happens(Kind::receive, 100, 1, 5, kGet);
    happens(Kind::receive, 120, 1, 6, kGet);
    happens(Kind::send, 160, 1, 5, kOk + "ok");
    happens(Kind::send, 190, 1, 6, kOk + "ok");
    ASSERT_EQ(taken.answered.size(), 2u);
    EXPECT_EQ(part(taken.answered[0], "cpu"), 20u + 20u);
    EXPECT_EQ(part(taken.answered[0], "event loop"), 20u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 20u + 30u);
    EXPECT_EQ(part(taken.answered[1], "event loop"), 20u);
}

// Thread 1 receives and sends, thread 7 works: it is woken by the one and wakes it from poll().
struct Pool : Server {
    void SetUp() override {
        for (int64_t fd : {5, 6}) happens(Kind::accept, 10, 1, fd);
        round(5, 100, kGet);  // since then 7 is known to be one
    }
    // 10 cpu, 5 run queue of 7, 20 disk, 25 cpu, 5 run queue of 1, 5 cpu.
    void round(int64_t fd, uint64_t at, const std::string& request, uint32_t worker = 7) {
        happens(Kind::receive, at, 1, fd, request);
        waits(50, at + 15, 5, worker, "lock", 1);
        waits(at + 20, at + 40, 0, worker, "disk");
        happens(Kind::send, at + 60, 1, 99, "x", worker);
        waits(at + 12, at + 65, 5, 1, "poll", worker);
        happens(Kind::send, at + 70, 1, fd, kOk + "ok");
    }
};

TEST_F(Pool, what_the_worker_does_is_the_requests_time) {
    round(5, 1000, kGet);
    waits(1062, 1090, 0, 7, "lock", 3, true);  // an interpreter's lock, and idle from then on
    round(5, 2000, kGet);
    on.finish();
    ASSERT_EQ(taken.answered.size(), 3u);
    for (const Request& one : taken.answered) {
        EXPECT_EQ(part(one, "disk"), 20u);
        EXPECT_EQ(part(one, "run queue"), 5u + 5u);
        EXPECT_EQ(part(one, "cpu"), 10u + 5u + 20u + 5u);
        EXPECT_EQ(part(one, "poll"), 0u);
        EXPECT_EQ(sum(one.parts), 70u);
    }
}

// It takes its next work without a wait for it: what it waits for on the way there is the work's.
TEST_F(Pool, a_worker_with_work_at_hand_waits_for_the_interpreter) {
    happens(Kind::receive, 1000, 1, 5, kGet);
    waits(900, 1010, 0, 7, "lock", 1);
    waits(1010, 1040, 0, 1, "poll");
    happens(Kind::receive, 1040, 1, 6, kGet);
    happens(Kind::send, 1050, 1, 99, "x", 7);
    waits(1040, 1055, 0, 1, "poll", 7);
    happens(Kind::send, 1060, 1, 5, kOk + "ok");
    waits(1060, 1160, 10, 7, "GIL", 1, true);
    waits(1170, 1180, 0, 7, "disk");
    happens(Kind::send, 1190, 1, 99, "x", 7);
    waits(1060, 1195, 0, 1, "poll", 7);
    happens(Kind::send, 1200, 1, 6, kOk + "ok");
    on.finish();
    ASSERT_EQ(taken.answered.size(), 3u);
    const Request& second = taken.answered[2];
    EXPECT_EQ(part(second, "GIL"), 90u);
    EXPECT_EQ(part(second, "run queue"), 10u);
    EXPECT_EQ(part(second, "disk"), 10u);
    EXPECT_EQ(part(second, "cpu"), 7u + 10u + 10u + 5u);  // until 1060 it shares 7 and 1
    EXPECT_EQ(sum(second.parts), 160u);
}

TEST_F(Pool, work_goes_on_after_its_request_for_nobody) {
    happens(Kind::receive, 1000, 1, 5, kGet);
    waits(500, 1010, 0, 7, "lock", 1);
    waits(1005, 1050, 0, 1, "poll");
    happens(Kind::send, 1060, 1, 5, kOk + "ok");  // 7 goes on
    happens(Kind::receive, 2000, 1, 6, kGet);
    waits(2005, 2090, 0, 1, "poll");
    happens(Kind::send, 2100, 1, 6, kOk + "ok");
    waits(1500, 3000, 0, 7, "disk");
    ASSERT_EQ(taken.answered.size(), 3u);
    EXPECT_EQ(part(taken.answered[1], "cpu"), 5u + 50u);
    EXPECT_EQ(part(taken.answered[1], "poll"), 5u);
    EXPECT_EQ(part(taken.answered[2], "disk"), 0u);
    EXPECT_EQ(part(taken.answered[2], "poll"), 85u);
}

TEST_F(Pool, whose_work_it_is_is_known_where_the_other_request_is_with_another_worker) {
    round(5, 300, kGet, 8);
    happens(Kind::receive, 1000, 1, 5, kGet);
    waits(900, 1000, 0, 7, "lock", 1);
    happens(Kind::receive, 1010, 1, 6, kOther);
    waits(900, 1010, 0, 8, "lock", 1);
    waits(1000, 1100, 0, 7, "disk");
    waits(1010, 1100, 0, 1, "poll", 7);  // 7 has done its work, 8 goes on
    waits(1010, 1200, 0, 8, "sleep");
    waits(1110, 1200, 0, 1, "poll", 8);
    happens(Kind::send, 1200, 1, 5, kOk + "ok");
    happens(Kind::send, 1200, 1, 6, kOk + "ok");
    on.finish();
    ASSERT_EQ(taken.answered.size(), 4u);
    EXPECT_EQ(part(taken.answered[2], "disk"), 100u);
    EXPECT_EQ(part(taken.answered[2], "cpu"), 10u);
    EXPECT_EQ(part(taken.answered[2], "poll"), 90u);
    EXPECT_EQ(part(taken.answered[3], "sleep"), 190u);
}

TEST_F(Pool, of_several_requests_it_is_known_whose_only_if_they_are_alike) {
    happens(Kind::receive, 1000, 1, 5, kGet);
    happens(Kind::receive, 1000, 1, 6, kOther);
    waits(500, 1010, 0, 7, "lock", 1);
    waits(1010, 1110, 0, 7, "disk");
    waits(1010, 1110, 0, 1, "poll", 7);
    happens(Kind::send, 1110, 1, 5, kOk + "ok");
    happens(Kind::send, 1110, 1, 6, kOk + "ok");
    happens(Kind::receive, 2000, 1, 5, kGet);
    happens(Kind::receive, 2000, 1, 6, kGet);
    waits(1110, 2010, 0, 7, "lock", 1);
    waits(2010, 2110, 0, 7, "disk");
    waits(2010, 2110, 0, 1, "poll", 7);
    happens(Kind::send, 2110, 1, 5, kOk + "ok");
    happens(Kind::send, 2110, 1, 6, kOk + "ok");
    on.finish();
    ASSERT_EQ(taken.answered.size(), 5u);
    for (size_t i : {1, 2}) {
        EXPECT_EQ(part(taken.answered[i], "disk"), 0u);
        EXPECT_EQ(part(taken.answered[i], "shared"), 10u + 50u);
        EXPECT_EQ(part(taken.answered[i], "poll"), 50u);
    }
    for (size_t i : {3, 4}) {
        EXPECT_EQ(part(taken.answered[i], "disk"), 50u);
        EXPECT_EQ(part(taken.answered[i], "poll"), 50u);
        EXPECT_EQ(part(taken.answered[i], "shared"), 0u);
        EXPECT_EQ(sum(taken.answered[i].parts), 110u);
    }
}

}  // namespace
}  // namespace mlbcc::requests
