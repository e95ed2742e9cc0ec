#include "terminal/live_screen.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>

#include <fmt/format.h>

#include "sink/summary_text.h"

// Last: they define `columns`, and more of the kind.
#include <curses.h>
#include <term.h>
#undef lines

namespace mlbcc::terminal {
namespace {

constexpr short kLoss = 1;  // a pair of colours

uint64_t cpu_ns() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto ns = [](const timeval& time) {
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
               static_cast<uint64_t>(time.tv_usec) * 1000;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// What leaves the alternate screen, shows the cursor and ends all attributes.
std::string leaving() {
    std::string text;
    for (const char* name : {"rmcup", "cnorm", "sgr0", "rmkx"}) {
        const char* found = ::tigetstr(const_cast<char*>(name));
        if (found != nullptr && found != reinterpret_cast<const char*>(-1)) text += found;
    }
    return text;
}

std::optional<terminal::LiveKey> key_of(int code) {
    using terminal::LiveKey;
    switch (code) {
    case KEY_UP: return LiveKey::up;
    case KEY_DOWN: return LiveKey::down;
    case KEY_PPAGE: return LiveKey::page_up;
    case KEY_NPAGE: return LiveKey::page_down;
    case KEY_HOME: return LiveKey::home;
    case KEY_END: return LiveKey::end;
    case KEY_BACKSPACE:
    case 127:
    case 8: return LiveKey::backspace;
    case KEY_ENTER:
    case '\n':
    case '\r': return LiveKey::enter;
    case 27: return LiveKey::escape;
    default: return {};
    }
}

}  // namespace

LiveScreen::LiveScreen(std::string title, std::optional<std::chrono::nanoseconds> every,
                       UniqueFd terminal, CapturedOutput output)
    : terminal_(std::move(terminal)), guard_(std::in_place, terminal_.get(), leaving()),
      output_(std::move(output)), view_(std::move(title)),
      every_ns_(static_cast<uint64_t>(every.value_or(kEvery).count())) {}

Result<std::unique_ptr<LiveScreen>>
LiveScreen::open(std::string title, std::optional<std::chrono::nanoseconds> every) {
    UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC));
    if (!terminal || ::isatty(STDERR_FILENO) != 1) {
        return Error{"a live view needs a terminal, and standard error is not one", 0,
                     "run it in a terminal (ssh -t, docker run -it), or leave --live out"};
    }
    if (::tcgetpgrp(terminal.get()) != ::getpgrp())
        return Error{"a live view cannot be shown from the background", 0, "leave out the `&`"};
    const char* term = std::getenv("TERM");
    int found = 0;
    const bool known = term != nullptr && ::setupterm(term, terminal.get(), &found) == OK;
    const char* moves = known ? ::tigetstr(const_cast<char*>("cup")) : nullptr;
    if (moves == nullptr || moves == reinterpret_cast<const char*>(-1)) {
        return Error{fmt::format("no terminfo entry for TERM=`{}`", term == nullptr ? "" : term), 0,
                     "set TERM, for example to xterm, or install ncurses-term"};
    }
    Result<CapturedOutput> output = CapturedOutput::begin();
    if (!output) return output.error();
    return std::unique_ptr<LiveScreen>(
        new LiveScreen(std::move(title), every, std::move(terminal), std::move(*output)));
}

void LiveScreen::start(uint64_t start_ns) {
    start_ns_ = start_ns;
    next_ns_ = start_ns + std::min(every_ns_, kFirstNs);
    std::setlocale(LC_CTYPE, "");
    guard_->begin();
    stream_ = ::fdopen(terminal_.get(), "r+");
    if (stream_ == nullptr) return;
    [[maybe_unused]] int owned_by_stream = terminal_.release();
    ::set_escdelay(25);
    screen_ = ::newterm(nullptr, stream_, stream_);
    if (screen_ == nullptr) return;
    ::cbreak();  // Ctrl-C stays a signal
    ::noecho();
    ::nonl();
    ::keypad(stdscr, true);
    ::nodelay(stdscr, true);
    ::curs_set(0);
    begin_colors();
    draw();
}

bool LiveScreen::take_keys(bool& changed) {
    for (int code = ::wgetch(stdscr); code != ERR; code = ::wgetch(stdscr)) {
        changed = true;
        if (auto key = key_of(code)) {
            view_.press(*key);
        } else if (code < 256 && !view_.press(static_cast<char>(code))) {
            return false;
        }
    }
    return true;
}

bool LiveScreen::work(uint64_t now_ns, const Look& look) {
    if (screen_ == nullptr) return true;
    bool changed = false;
    const bool goes_on = take_keys(changed);
    if (now_ns >= next_ns_) {
        next_ns_ = now_ns + every_ns_;
        Now now = look();
        view_.take(now.counted, std::move(now.job), now_ns - start_ns_, cpu_ns());
        changed = true;
    }
    if (changed) draw();
    return goes_on;
}

// The terminal's own colours stay, where it has a default to go back to.
void LiveScreen::begin_colors() {
    has_colors_ = sink::wants_color(::fileno(stream_)) && ::has_colors() && ::start_color() == OK &&
                  ::use_default_colors() == OK && ::init_pair(kLoss, COLOR_RED, -1) == OK;
}

int LiveScreen::attributes(terminal::LiveView::Style style) const {
    using terminal::LiveView;
    switch (style) {
    case LiveView::Style::titles: return static_cast<int>(A_REVERSE);
    case LiveView::Style::strong: return static_cast<int>(A_BOLD);
    case LiveView::Style::quiet: return static_cast<int>(A_DIM);
    case LiveView::Style::loss: break;
    }
    return static_cast<int>(A_BOLD | (has_colors_ ? COLOR_PAIR(kLoss) : A_NORMAL));
}

void LiveScreen::draw() {
    const int height = getmaxy(stdscr), width = getmaxx(stdscr);
    if (height <= 0 || width <= 0) return;
    const auto screen_text =
        view_.draw(static_cast<size_t>(height), static_cast<size_t>(width), output_.last_lines());
    werase(stdscr);
    auto mark = screen_text.marks.begin();
    for (size_t i = 0; i < screen_text.lines.size(); ++i) {
        const std::string& line = screen_text.lines[i];
        wmove(stdscr, static_cast<int>(i), 0);
        size_t shown = 0;
        auto show = [&](size_t end, int attributes) {
            end = std::min(end, line.size());
            if (end <= shown) return;
            wattrset(stdscr, attributes);
            waddnstr(stdscr, line.data() + shown, static_cast<int>(end - shown));
            shown = end;
        };
        for (; mark != screen_text.marks.end() && mark->line == i; ++mark) {
            show(mark->begin, A_NORMAL);
            show(mark->end, attributes(mark->style));
        }
        show(line.size(), A_NORMAL);
    }
    ::wrefresh(stdscr);
}

void LiveScreen::end() {
    if (screen_ != nullptr) {
        ::endwin();
        ::delscreen(screen_);
        screen_ = nullptr;
    }
    guard_.reset();
    if (stream_ != nullptr) std::fclose(stream_);
    stream_ = nullptr;
    output_.give_back();
}

}  // namespace mlbcc::terminal
