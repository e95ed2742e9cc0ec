#include "requests/time_split.h"

#include <algorithm>
#include <span>

namespace mlbcc::requests {
namespace {

constexpr double kAlmost = 1e-9;

class Split {
public:
    Split(uint64_t duration_ns, const std::vector<Request*>& open)
        : duration_ns_(duration_ns), open_(open), rest_(open.size(), 1), rest_ns_(open.size()) {
        std::ranges::fill(rest_ns_, duration_ns);
    }

    // Workers whose request is known.
    void give_known(std::span<WorkerNow> workers) {
        for (size_t first = 0; first < workers.size();) {
            size_t next = first;
            while (next < workers.size() && workers[next].request == workers[first].request) ++next;
            auto its = std::ranges::find(open_, workers[first].request, &Request::id);
            if (its != open_.end()) {
                auto i = static_cast<size_t>(its - open_.begin());
                for (size_t w = first; w < next; ++w) {
                    give(i, workers[w].part, 1.0 / static_cast<double>(next - first));
                }
                rest_[i] = 0;
            }
            first = next;
        }
    }

    // Workers that were called when the same requests were open.
    void give_among(std::span<WorkerNow> workers) {
        std::vector<size_t> possible;
        double all = 0;
        for (size_t i = 0; i < workers[0].candidates; ++i) {
            if (rest_[i] < kAlmost) continue;
            possible.push_back(i);
            all += rest_[i];
        }
        if (possible.empty()) return;
        bool are_alike = all_alike(possible);
        double share = std::min(1.0, all / static_cast<double>(workers.size()));
        for (size_t i : possible) {
            double each = share * rest_[i] / all;
            for (const WorkerNow& one : workers) {
                give(i, are_alike ? one.part : size_t{Parts::shared}, each);
            }
            rest_[i] -= each * static_cast<double>(workers.size());
        }
        if (possible.size() > 1) return;
        for (WorkerNow& one : workers) one.request = open_[possible[0]]->id;
    }

    // What is with no worker is with the thread itself.
    void give_rest(const OwnWork& own) {
        std::vector<size_t> left;
        double all = 0;
        for (size_t i = 0; i < open_.size(); ++i) {
            if (rest_[i] >= kAlmost) left.push_back(i);
            all += rest_[i];
        }
        bool is_sure = own.part == Parts::poll || all <= 1 + kAlmost;
        if (own.request != 0 || (own.says && !is_sure)) return give_rest_to_one(own);
        give_rest_among(left, all, is_sure, own.part);
    }

private:
    // The others wait for their turn.
    void give_rest_to_one(const OwnWork& own) {
        for (size_t i = 0; i < open_.size(); ++i) {
            bool is_its = open_[i]->id == own.request;
            open_[i]->parts[is_its ? own.part : size_t{Parts::event_loop}] += rest_ns_[i];
        }
    }

    void give_rest_among(const std::vector<size_t>& left, double all, bool is_sure,
                         size_t own_part) {
        bool are_alike = is_sure || all_alike(left);
        for (size_t i = 0; i < open_.size(); ++i) {
            PartTimes& parts = open_[i]->parts;
            uint64_t own = rest_ns_[i];
            if (!is_sure) own = static_cast<uint64_t>(static_cast<double>(own) / all);
            parts[are_alike ? own_part : size_t{Parts::shared}] += own;
            parts[are_alike ? Parts::event_loop : Parts::shared] += rest_ns_[i] - own;
        }
    }

    bool all_alike(const std::vector<size_t>& some) const {
        return std::ranges::all_of(
            some, [&](size_t i) { return open_[i]->endpoint == open_[some[0]]->endpoint; });
    }

    void give(size_t i, size_t part, double share) {
        auto its = static_cast<uint64_t>(static_cast<double>(duration_ns_) * share + kAlmost);
        its = std::min(its, rest_ns_[i]);
        open_[i]->parts[part] += its;
        rest_ns_[i] -= its;
    }

    uint64_t duration_ns_;
    const std::vector<Request*>& open_;
    std::vector<double> rest_;       // of each request: how much of it is not with workers
    std::vector<uint64_t> rest_ns_;  // what was not given of it
};

}  // namespace

void split_time(uint64_t duration_ns, const OwnWork& own, const std::vector<Request*>& open,
                std::vector<WorkerNow>& workers) {
    Split split(duration_ns, open);
    // Each may be for a request of those that the next may be for: the first leave fewer to the
    // others.
    std::ranges::sort(workers, {}, [](const WorkerNow& one) {
        return std::pair(one.request == 0 ? one.candidates : 0, one.request);
    });
    auto known = std::ranges::find(workers, 0u, &WorkerNow::request);
    split.give_known({workers.begin(), known});
    while (known != workers.end()) {
        auto next = std::ranges::upper_bound(known, workers.end(), known->candidates, {},
                                             &WorkerNow::candidates);
        split.give_among({known, next});
        known = next;
    }
    split.give_rest(own);
}

}  // namespace mlbcc::requests
