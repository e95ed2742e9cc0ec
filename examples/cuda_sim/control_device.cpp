#include "control_device.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace cuda_sim {
namespace {

struct SysParams {
    std::uint64_t memory_block_size;
};
struct CardInfo {
    std::array<std::byte, 72> card[32];
};
struct ApiVersion {
    std::uint32_t command, reply;
    char text[64];
};
struct RmControl {
    Object client, object;
    std::uint32_t command, flags;
    std::uint64_t params;
    std::uint32_t params_size, status;
};
struct RmAlloc {
    Object client, parent, object;
    std::uint32_t object_class;
    std::uint64_t params, rights;
    std::uint32_t params_size, flags, status, padding;
};
struct RmFree {
    Object client, parent, object;
    std::uint32_t status;
};

constexpr unsigned long kCardInfo = _IOWR('F', 200, CardInfo);
constexpr unsigned long kCheckVersion = _IOWR('F', 210, ApiVersion);
constexpr unsigned long kSysParams = _IOWR('F', 214, SysParams);
constexpr unsigned long kRmFree = _IOWR('F', 0x29, RmFree);
constexpr unsigned long kRmControl = _IOWR('F', 0x2a, RmControl);
constexpr unsigned long kRmAlloc = _IOWR('F', 0x2b, RmAlloc);
static_assert(kRmFree == 0xc0104629 && kRmControl == 0xc020462a && kRmAlloc == 0xc030462b);

constexpr std::uint32_t kQueryVersion = '2';  // ask only; a mismatch would be logged by the kernel
constexpr std::uint32_t kGetAttachedGpus = 0x0201;  // RM_CONTROL of a client, answers with 32 ids

const char* device_path() {
    const char* path = std::getenv("CUDA_SIM_CONTROL");
    return path ? path : "/dev/nvidiactl";
}

template <typename Params> void request(int fd, unsigned long number, Params& params) {
    if (ioctl(fd, number, &params) < 0) return;  // the answer does not matter, see control_device.h
}

}  // namespace

void ControlDevice::start() {
    fd_ = open(device_path(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) return;
    SysParams sys_params{};
    request(fd_, kSysParams, sys_params);
    CardInfo cards{};
    request(fd_, kCardInfo, cards);
    ApiVersion version{.command = kQueryVersion, .reply = 0, .text = {}};
    request(fd_, kCheckVersion, version);
    client_ = allocate(0, 0, ObjectClass::kClient);
    std::array<std::uint32_t, 32> gpus{};
    RmControl control{.client = client_,
                      .object = client_,
                      .command = kGetAttachedGpus,
                      .flags = 0,
                      .params = reinterpret_cast<std::uint64_t>(&gpus),
                      .params_size = sizeof gpus,
                      .status = 0};
    request(fd_, kRmControl, control);
}

Object ControlDevice::allocate(Object parent, Object object, ObjectClass object_class) const {
    RmAlloc alloc{};
    alloc.client = client_;
    alloc.parent = parent;
    alloc.object = object;
    alloc.object_class = static_cast<std::uint32_t>(object_class);
    request(fd_, kRmAlloc, alloc);
    return alloc.object;
}

Object ControlDevice::create(ObjectClass object_class) {
    if (fd_ < 0) return 0;
    return allocate(client_, ++last_object_, object_class);
}

void ControlDevice::destroy(Object object) {
    if (fd_ < 0 || object == 0) return;
    const Object parent = object == client_ ? 0 : client_;
    RmFree free{.client = client_, .parent = parent, .object = object, .status = 0};
    request(fd_, kRmFree, free);
}

void ControlDevice::stop() {
    if (fd_ < 0) return;
    destroy(client_);
    close(fd_);
    fd_ = -1;
}

}  // namespace cuda_sim
