#include "host/guardian.h"

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "host/open_marks.h"
#include "process/capabilities.h"

namespace mlbcc::host {

namespace {

using Clock = std::chrono::steady_clock;

struct Held {
    int ticket;  // the descriptor in this process, which the kernel knows the event by
    Clock::time_point since;
};

class Guardian {
public:
    Guardian(UniqueFd fanotify, UniqueFd socket, Clock::duration patience)
        : fanotify_(std::move(fanotify)), socket_(std::move(socket)), marks_(fanotify_.get()),
          patience_(patience) {}

    // What the tracer has said is heard before any event is judged: it says what it awaits before
    // that is watched.
    void serve() {
        while (true) {
            std::array<pollfd, 3> waiting{{{socket_.get(), POLLIN, 0},
                                           {fanotify_.get(), POLLIN, 0},
                                           {marks_.mounts_fd(), POLLPRI, 0}}};
            (void)::poll(waiting.data(), waiting.size(), held_.empty() ? -1 : to_wait_ms());
            if (!hear()) return;
            if ((waiting[2].revents & POLLPRI) != 0) marks_.renew();
            read_events();
            let_go_late();
        }
    }

private:
    // False when the tracer is gone.
    bool hear() {
        while (true) {
            std::array<char, 16384> bytes;
            const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) return true;
            GuardRequest request;
            if (got < static_cast<ssize_t>(sizeof request)) return false;
            std::memcpy(&request, bytes.data(), sizeof request);
            const std::string_view rest(bytes.data() + sizeof request,
                                        static_cast<size_t>(got) - sizeof request);
            carry_out(request, rest);
        }
    }

    void carry_out(const GuardRequest& request, std::string_view rest) {
        switch (request.kind) {
        case GuardRequest::Kind::pass: passing_.insert(request.file); return;
        case GuardRequest::Kind::release: return let_go(request.ticket);
        case GuardRequest::Kind::watch: break;
        }
        const size_t zero = rest.find('\0');
        WatchedPlace place{std::string(rest.substr(0, zero)), std::string(rest.substr(zero + 1))};
        places_.push_back(place);
        by_name_ = by_name_ || !place.has_folder();
        const int code = marks_.add(place);
        GuardReply reply{GuardReply::Kind::watched, -1, 0, code, marks_.file_systems()};
        while (send(socket_.get(), &reply, sizeof reply, MSG_NOSIGNAL) < 0 && errno == EINTR) {
        }
    }

    void read_events() {
        alignas(fanotify_event_metadata) std::array<char, 4096> bytes;
        ssize_t got = read(fanotify_.get(), bytes.data(), bytes.size());
        const auto* event = reinterpret_cast<const fanotify_event_metadata*>(bytes.data());
        for (; got > 0 && FAN_EVENT_OK(event, got); event = FAN_EVENT_NEXT(event, got)) {
            if (event->fd < 0) continue;
            if (!is_awaited(*event) || !hold(*event)) answer(event->fd);
        }
    }

    // Most files are none that a loader would map: their first bytes tell.
    bool is_awaited(const fanotify_event_metadata& event) {
        const std::optional<files::FileId> id = elf_file_id(event.fd);
        if (!id) return false;
        marks_.follow(event.pid);
        if (passing_.contains(*id)) return false;
        SeenFile file{*id, {}, {}};
        if (by_name_) file = seen_file(event.fd).value_or(file);
        return std::ranges::any_of(
            places_, [&](const WatchedPlace& place) { return leads_to(place, file); });
    }

    // The tracer's own opening cannot wait for the tracer.
    bool hold(const fanotify_event_metadata& event) {
        if (event.pid == getppid()) return false;
        GuardReply reply{GuardReply::Kind::held, event.fd, event.pid, 0, 0};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        iovec part{&reply, sizeof reply};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &event.fd, sizeof event.fd);
        if (sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
        held_.push_back({event.fd, Clock::now()});
        return true;
    }

    void answer(int ticket) const {
        const fanotify_response response{ticket, FAN_ALLOW};
        while (write(fanotify_.get(), &response, sizeof response) < 0 && errno == EINTR) {
        }
        close(ticket);
    }
    void let_go(int ticket) {
        const auto removed =
            std::erase_if(held_, [&](const Held& h) { return h.ticket == ticket; });
        if (removed > 0) answer(ticket);
    }
    void let_go_late() {
        const auto now = Clock::now();
        while (!held_.empty() && now - held_.front().since >= patience_) {
            let_go(held_.front().ticket);
        }
    }
    // Until the first of those that are held has waited for long enough.
    int to_wait_ms() const {
        const auto left = held_.front().since + patience_ - Clock::now();
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        return static_cast<int>(std::clamp<decltype(ms)>(ms, 0, 1000));
    }

    UniqueFd fanotify_, socket_;
    OpenMarks marks_;
    Clock::duration patience_;
    std::vector<WatchedPlace> places_;
    bool by_name_ = false;  // what a file is called matters to some of them
    std::set<files::FileId> passing_;
    std::vector<Held> held_;  // the longest first
};

// All that was inherited: pipes of the tracer must not stay open for its readers, nor its probes.
void close_others(int a, int b) {
    const auto first = static_cast<unsigned>(std::min(a, b));
    const auto second = static_cast<unsigned>(std::max(a, b));
    if (first > 0) close_range(0, first - 1, 0);
    if (second > first + 1) close_range(first + 1, second - 1, 0);
    close_range(second + 1, ~0u, 0);
}

// It marks file systems, looks at the mounts and links of any process, and at the files they lead
// to. Without CAP_SYS_PTRACE a process may be looked into only by whoever has all that it has.
void keep_what_marks_need() {
    const Capabilities own = effective_capabilities();
    if (!own.has(CAP_SYS_PTRACE)) return;
    (void)keep_capabilities(own & Capabilities{CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH});
}

}  // namespace

// In a session of its own, so that Ctrl-C and Ctrl-Z are not for it; nor is any other signal, as
// long as somebody may wait for its answer.
void run_guardian(UniqueFd fanotify, UniqueFd socket, std::chrono::nanoseconds patience) {
    setsid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    close_others(fanotify.get(), socket.get());
    keep_what_marks_need();
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the socket may have copies that outlive the tracer
    Guardian(std::move(fanotify), std::move(socket), patience).serve();
    _exit(0);
}

}  // namespace mlbcc::host
