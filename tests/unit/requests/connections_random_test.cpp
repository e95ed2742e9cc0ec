// Events in any order and number, as a trace has them where some were lost: nothing is thrown, and
// each request's parts are its duration.
#include "requests/server.h"

#include <random>

namespace mlbcc::requests {
namespace {

class Chaos {
public:
    explicit Chaos(unsigned seed) : random_(seed) {}

    // In the order of their ends.
    ServeEvent next() {
        now_ += below(20) * below(200);
        const Kind kind = kKinds[below(std::size(kKinds))];
        ServeEvent one{kind, now_ - std::min(now_, below(400)), now_};
        one.tid = 1 + static_cast<uint32_t>(below(8));
        one.pid = one.tid <= 6 ? 1 : 7;
        one.other_pid = below(3) == 0 ? 1 : 7;
        one.parent_pid = one.pid == 7 ? 1 : 0;
        one.fd = static_cast<int64_t>(5 + below(4));
        one.queued_ns = std::min(below(50), one.end_ns - one.begin_ns);
        one.other_tid = static_cast<uint32_t>(below(9));
        one.timed = below(2) == 0;
        one.request = below(5);
        one.text = text(kind);
        one.bytes = kind == Kind::receive || kind == Kind::send ? one.text.size() + below(3) : 0;
        if (kind == Kind::wait && below(2) == 0) one.stack = {"f", "g"};
        return one;
    }

private:
    static constexpr Kind kKinds[] = {
        Kind::accept, Kind::receive, Kind::receive, Kind::receive, Kind::send, Kind::send,
        Kind::send,   Kind::wait,    Kind::wait,    Kind::wait,    Kind::wait, Kind::mark,
        Kind::begin,  Kind::end,     Kind::call,    Kind::born,    Kind::exit, Kind::close};

    uint64_t below(uint64_t limit) { return random_() % limit; }
    std::string text(Kind kind) {
        if (kind == Kind::receive) return below(4) == 0 ? "x" : below(2) == 0 ? kGet : kOther;
        if (kind == Kind::send) return below(4) == 0 ? "ok" : kOk + "ok";
        if (kind != Kind::wait) return "model";
        constexpr const char* kReasons[] = {"lock", "lock", "poll", "disk", "run queue", "pipe"};
        return kReasons[below(std::size(kReasons))];
    }

    std::mt19937_64 random_;
    uint64_t now_ = 1000;
};

TEST(ConnectionsAtRandom, EachRequestsPartsAreItsDuration) {
    size_t answered = 0, with_workers = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Taken taken;
        Connections on(true, taken);
        Chaos chaos(seed);
        for (int i = 0; i < 1000; ++i) on.add(chaos.next());
        on.finish();
        for (const Request& one : taken.answered) {
            ASSERT_LE(one.begin_ns, one.end_ns) << "seed " << seed;
            ASSERT_EQ(sum(one.parts), one.duration_ns()) << one.endpoint << ", seed " << seed;
            with_workers += one.parts[Parts::event_loop] > 0;
        }
        answered += taken.answered.size();
    }
    EXPECT_GT(answered, 2000u);
    EXPECT_GT(with_workers, 20u);
}

}  // namespace
}  // namespace mlbcc::requests
