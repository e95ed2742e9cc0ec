#include "sink/sink.h"

namespace mlbcc::sink {
namespace {

class Tee : public Sink {
public:
    explicit Tee(std::vector<std::unique_ptr<Sink>> sinks) : sinks_(std::move(sinks)) {}

    void event(const event::Event& one) override {
        for (auto& sink : sinks_) sink->event(one);
    }
    void lost(const event::Loss& loss, uint64_t event_id) override {
        for (auto& sink : sinks_) sink->lost(loss, event_id);
    }
    void sums(const Sums& gained, uint64_t event_id) override {
        for (auto& sink : sinks_) sink->sums(gained, event_id);
    }
    void reload(const Reload& change, uint64_t event_id) override {
        for (auto& sink : sinks_) sink->reload(change, event_id);
    }
    Result<void> flush() override {
        return all([](Sink& sink) { return sink.flush(); });
    }
    Result<void> finish(const TraceEnd& end, uint64_t event_id) override {
        return all([&](Sink& sink) { return sink.finish(end, event_id); });
    }

private:
    template <class Call> Result<void> all(Call&& call) {
        Result<void> first;
        for (auto& sink : sinks_) {
            Result<void> result = call(*sink);
            if (first.ok()) first = result;
        }
        return first;
    }

    std::vector<std::unique_ptr<Sink>> sinks_;
};

}  // namespace

std::unique_ptr<Sink> make_tee(std::vector<std::unique_ptr<Sink>> sinks) {
    return std::make_unique<Tee>(std::move(sinks));
}

}  // namespace mlbcc::sink
