#include "symbols/symbolize.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/read_file.h"

namespace mlbcc::symbols {
namespace {

constexpr size_t kMaxMapsBytes = 64 << 20;
constexpr size_t kMaxProcesses = 8192;
constexpr size_t kMaxImages = 128;                       // of a process
constexpr size_t kMaxFrames = 65536;                     // remembered per image
constexpr uint64_t kPythonMark = 0xffff'ffff'ffff'ff00;  // no address: Python frames follow
constexpr uint64_t kNamesComeWithin = 1'000'000'000;
constexpr size_t kMaxAwaited = 64;                 // programs
constexpr uint64_t kNumberIsNew = 10'000'000'000;  // so long no other process had it

std::string text_of(Cut cut) {
    switch (cut) {
    case Cut::lost: break;
    case Cut::copy: return "... (beyond the copied stack)";
    case Cut::file: return "... (beyond a file that was not read)";
    case Cut::deep: return fmt::format("... (beyond {} functions)", kMaxStackFrames);
    }
    return "...";
}

}  // namespace

// What the walk up a stack asks about an address.
struct Symbolizer::Finder : CodeFinder {
    Finder(Symbolizer& symbolizer, Image& its_image, uint32_t its_pid)
        : owner(symbolizer), image(its_image), pid(its_pid) {}
    Code code_at(uint64_t address) override {
        CodeMapping* mapping = owner.mapping_of(image, pid, address);
        if (mapping == nullptr) return {};
        if (!mapping->is_file() && mapping->path != "[vdso]") return {true, nullptr, 0};
        Module& module = owner.modules_.of(pid, *mapping);
        uint64_t offset = address - mapping->start + mapping->offset;
        auto place = module.symbols ? module.symbols->address_of(offset) : std::nullopt;
        return {true, place ? module.cfi.get() : nullptr, place.value_or(0), !module.was_read};
    }
    Symbolizer& owner;
    Image& image;
    uint32_t pid;
};

Stack* Symbolizer::stack(uint32_t pid, uint64_t time_ns, const std::optional<UserStackCopy>& user,
                         const plan::PythonStack& python, const KernelStackCopy& kernel,
                         std::optional<uint64_t> shown_ns) {
    addresses_.clear();
    Image* image = user ? &image_at(pid, time_ns) : nullptr;
    if (image != nullptr) {
        if (is_renamed(*image, pid, time_ns)) image = &image_at(pid, time_ns);
        if (!image->loaded) load(*image, pid);
        if (image->first_stack_ns == 0) image->first_stack_ns = time_ns;
        Finder finder(*this, *image, pid);
        unwinder_.walk(*user, finder, addresses_);
    }
    size_t in_kernel = kernel.addresses.size();
    addresses_.insert(addresses_.begin(), kernel.addresses.begin(), kernel.addresses.end());
    size_t native = addresses_.size();
    bool has_python = python.state != plan::PythonState::none;
    if (has_python) {
        addresses_.push_back(kPythonMark + static_cast<uint64_t>(python.state));
        addresses_.insert(addresses_.end(), python.frames, python.frames + python.count);
    }
    if (addresses_.empty()) return nullptr;
    uint32_t id = image != nullptr ? image->id : 0;
    if (Stack* known = stacks_.find(id, addresses_)) return known;
    frames_.clear();
    lacks_names_ = false;
    kernel_.add(kernel, frames_);
    for (size_t i = in_kernel; i < native; ++i)
        frames_.push_back(frame(*image, pid, addresses_[i]));
    if (has_python) add_python(python);
    Stack* stack = stacks_.add(id, addresses_, frames_);
    if (stack == nullptr || !lacks_names_) return stack;
    if (Awaited* awaited = awaited_for(*image, pid, time_ns)) {
        awaited->shown_ns = std::min(awaited->shown_ns, shown_ns.value_or(time_ns));
        awaited->stacks.emplace_back(stack);
    }
    return stack;
}

// Null where it is waited for no longer.
Symbolizer::Awaited* Symbolizer::awaited_for(Image& image, uint32_t pid, uint64_t time_ns) {
    auto known = std::ranges::find(awaited_, image.id, &Awaited::image);
    if (known != awaited_.end()) return &*known;
    if (std::exchange(image.was_awaited, true) || awaited_.size() == kMaxAwaited) return nullptr;
    image.made->expect(owner(image, pid));
    return &awaited_.emplace_back(Awaited{pid, image.id, time_ns, time_ns, {}});
}

void Symbolizer::exited(uint32_t pid) {
    for (const Awaited& one : awaited_) {
        if (one.pid == pid) name(one);
    }
    std::erase_if(awaited_, [&](const Awaited& one) { return one.pid == pid; });
}

std::optional<uint64_t> Symbolizer::awaits_names_from(uint64_t now_ns) {
    const auto is_over = [&](const Awaited& one) {
        return one.since_ns + kNamesComeWithin <= now_ns;
    };
    for (const Awaited& one : awaited_) {
        if (is_over(one)) name(one);
    }
    std::erase_if(awaited_, is_over);
    if (awaited_.empty()) return std::nullopt;
    return std::ranges::min(awaited_, {}, &Awaited::shown_ns).shown_ns;
}

void Symbolizer::await_no_names() {
    for (const Awaited& one : awaited_) name(one);
    awaited_.clear();
}

void Symbolizer::name(const Awaited& awaited) {
    const auto images = images_.find(awaited.pid);
    if (images == images_.end()) return;
    const auto image = std::ranges::find(images->second, awaited.image, &Image::id);
    if (image == images->second.end()) return;
    image->made->read_last(owner(*image, awaited.pid));
    for (const HeldStack& held : awaited.stacks) {
        const Stack& stack = *held.get();
        std::vector<std::string> frames(stack.frames.begin(), stack.frames.end());
        for (const uint64_t address : stack.addresses) {
            if (const auto known = image->made->known(address, image->since_ns))
                std::ranges::replace(frames, unnamed(*image, awaited.pid, address), *known);
        }
        StackTable::name(held.get(), frames);
    }
}

// The interpreter's own functions stand for the Python functions that they run.
void Symbolizer::add_python(const plan::PythonStack& python) {
    if (python.count == 0) return;
    auto runs_python = [](const std::string& frame) {
        return frame.find(":_PyEval_EvalFrame") != std::string::npos;
    };
    frames_.erase(std::ranges::find_if(frames_, runs_python), frames_.end());
    for (uint32_t i = 0; i < python.count; ++i) {
        auto name = python_names_ ? python_names_(python.frames[i]) : std::nullopt;
        frames_.push_back(name.value_or("[python]"));
    }
    if (python.state == plan::PythonState::cut) frames_.emplace_back("...");
}

size_t Symbolizer::place_at(const std::deque<Image>& images, uint64_t time_ns) {
    size_t at = images.size() - 1;
    while (at > 0 && images[at].since_ns > time_ns) --at;
    return at;
}

Symbolizer::Image& Symbolizer::image_at(uint32_t pid, uint64_t time_ns) {
    if (!images_.contains(pid)) new_image(pid, 0);
    std::deque<Image>& images = images_[pid];
    const size_t at = place_at(images, time_ns);
    uint64_t replaced = log_.replaced(pid, time_ns).last;
    if (replaced <= images[at].since_ns) return images[at];
    return image_since(images, at, pid, replaced);
}

// Whether code that it has made has other names now: then it has another image from then on.
bool Symbolizer::is_renamed(Image& image, uint32_t pid, uint64_t time_ns) {
    const auto since = image.made->renamed(modules_.roots().epoch_ns, time_ns);
    if (!since) return false;
    std::deque<Image>& images = images_[pid];
    image_since(images, place_at(images, *since), pid, *since);
    return true;
}

// The program of images[at], from when something in it was replaced.
Symbolizer::Image& Symbolizer::image_since(std::deque<Image>& images, size_t at, uint32_t pid,
                                           uint64_t time_ns) {
    Image made;
    made.id = ++last_image_;
    made.since_ns = time_ns;
    made.loaded = images[at].loaded;
    made.maps = images[at].maps;
    made.made = images[at].made;
    made.was_awaited = images[at].was_awaited;
    made.first_stack_ns = images[at].first_stack_ns;
    add_seen(made, pid);
    Image& image = *images.insert(images.begin() + static_cast<ptrdiff_t>(at) + 1, std::move(made));
    if (images.size() <= kMaxImages) return image;
    images.pop_front();
    return images[at];
}

Symbolizer::Image& Symbolizer::new_image(uint32_t pid, uint64_t time_ns) {
    // Exits that were lost leave images behind; what is still needed is read again.
    if (images_.size() >= kMaxProcesses) images_.clear();
    std::deque<Image>& images = images_[pid];
    Image& image = images.emplace_back();
    image.id = ++last_image_;
    image.since_ns = time_ns;
    return image;
}

void Symbolizer::forked(uint32_t parent, uint32_t child, uint64_t time_ns) {
    modules_.held_roots().forked(parent, child, time_ns);
    auto found = images_.find(parent);
    if (found == images_.end()) return;
    std::vector<CodeMapping> maps = image_at(parent, time_ns).maps;
    bool loaded = image_at(parent, time_ns).loaded;
    Image& image = new_image(child, time_ns);
    image.maps = std::move(maps);
    image.loaded = loaded;
}

void Symbolizer::executed(uint32_t pid, uint64_t time_ns) {
    if (images_.contains(pid)) new_image(pid, time_ns);
}

void Symbolizer::executed_long_ago(uint32_t pid, uint64_t time_ns) {
    auto found = images_.find(pid);
    if (found == images_.end()) return;
    std::deque<Image>& images = found->second;
    while (images.size() > 1 && images.front().since_ns < time_ns) images.pop_front();
}

void Symbolizer::exited_long_ago(uint32_t pid, uint64_t time_ns) {
    modules_.held_roots().ended(pid, time_ns);
    auto found = images_.find(pid);
    if (found == images_.end()) return;
    std::deque<Image>& images = found->second;
    while (!images.empty() && images.front().since_ns <= time_ns) images.pop_front();
    if (images.empty()) images_.erase(found);
}

void Symbolizer::load(Image& image, uint32_t pid) {
    Result<std::string> text = read_file(modules_.proc_path(pid, "maps"), kMaxMapsBytes);
    std::vector<CodeMapping> maps = code_mappings(text ? *text : "");
    if (!maps.empty()) image.maps = std::move(maps);  // else the process is ending, or gone
    add_seen(image, pid);
    image.loaded = !image.maps.empty();
}

// What was seen is of the image's own time; /proc tells how it is by now.
void Symbolizer::add_seen(Image& image, uint32_t pid) {
    uint64_t end = log_.replaced(pid, image.since_ns).next;
    std::vector<CodeMapping> seen = log_.mappings(pid, end);
    std::erase_if(image.maps, [&](const CodeMapping& old) {
        auto behind = std::ranges::lower_bound(seen, old.end, {}, &CodeMapping::start);
        return behind != seen.begin() && std::prev(behind)->end > old.start;
    });
    std::ranges::move(seen, std::back_inserter(image.maps));
    std::ranges::sort(image.maps, {}, &CodeMapping::start);
}

CodeMapping* Symbolizer::mapping_of(Image& image, uint32_t pid, uint64_t address) {
    CodeMapping* mapping = find_mapping(image.maps, address);
    if (mapping == nullptr && image.maps_backoff.may_try()) {
        load(image, pid);
        mapping = find_mapping(image.maps, address);
        if (mapping != nullptr) image.maps_backoff.succeeded();
    }
    return mapping;
}

// What has no name yet may have one the next time.
std::string Symbolizer::frame(Image& image, uint32_t pid, uint64_t address) {
    if (const auto cut = cut_at(address)) return text_of(*cut);
    if (auto found = image.frames.find(address); found != image.frames.end()) return found->second;
    std::optional<std::string> name = describe(image, pid, address);
    if (!name) return unnamed(image, pid, address);
    if (image.frames.size() >= kMaxFrames) image.frames.clear();
    image.frames.emplace(address, *name);
    return *name;
}

// A return address may be the first byte of the next function, where the call was the last of its
// own: so it is looked up by the byte before it.
std::optional<std::string> Symbolizer::describe(Image& image, uint32_t pid, uint64_t address) {
    CodeMapping* mapping = mapping_of(image, pid, address - 1);
    const Module* module = module_of(pid, mapping);
    // Runtimes put made code into memory with a name ([anon:v8]) and files without one (memfd),
    // too.
    if (module == nullptr || !module->symbols)
        return describe_made_code(image, pid, mapping, address);
    uint64_t offset = address - 1 - mapping->start + mapping->offset;
    uint64_t place = module->symbols->address_of(offset).value_or(offset);
    auto hit = module->symbols->find(place);
    if (!hit) return fmt::format("{}+{:#x}", module->name, place + 1);
    return fmt::format("{}:{}+{:#x}", module->name, demangled(hit->name), place + 1 - hit->start);
}

std::optional<std::string> Symbolizer::function_at(uint32_t pid, uint64_t address) {
    CodeMapping* mapping = mapping_of(image_at(pid, UINT64_MAX), pid, address);
    const Module* module = module_of(pid, mapping);
    if (module == nullptr || !module->symbols) return std::nullopt;
    const uint64_t offset = address - mapping->start + mapping->offset;
    const uint64_t place = module->symbols->address_of(offset).value_or(offset);
    const auto hit = module->symbols->find(place);
    if (!hit || hit->start != place) return std::nullopt;
    return std::string(hit->name);
}

std::string Symbolizer::unnamed(Image& image, uint32_t pid, uint64_t address) {
    CodeMapping* mapping = find_mapping(image.maps, address - 1);
    const Module* module = module_of(pid, mapping);
    if (module == nullptr) return fmt::format("{:#x}", address);
    return fmt::format("{}+{:#x}", module->name, address - mapping->start + mapping->offset);
}

// Null for memory without a name.
const Module* Symbolizer::module_of(uint32_t pid, CodeMapping* mapping) {
    bool has_name = mapping != nullptr && (mapping->is_file() || !mapping->path.empty());
    return has_name ? &modules_.of(pid, *mapping) : nullptr;
}

std::optional<std::string> Symbolizer::describe_made_code(Image& image, uint32_t pid,
                                                          const CodeMapping* mapping,
                                                          uint64_t address) {
    std::optional<std::string> name =
        image.made->describe(owner(image, pid), address, image.since_ns);
    const bool is_made = mapping != nullptr && mapping->path != "[vdso]" &&
                         (!mapping->is_file() || mapping->path.starts_with("/memfd:"));
    if (!name && is_made) lacks_names_ = true;
    return name;
}

MadeCode::Owner Symbolizer::owner(const Image& image, uint32_t pid) const {
    const uint64_t epoch = modules_.roots().epoch_ns;
    const uint64_t before = image.first_stack_ns - std::min(image.first_stack_ns, kNumberIsNew);
    const uint64_t since = image.since_ns != 0 ? image.since_ns : before;
    return {modules_.roots().proc, pid, epoch == 0 ? 0 : epoch + since, modules_.roots().user};
}

}  // namespace mlbcc::symbols
