// The conversation that a driver library has with the kernel module through /dev/nvidiactl, so that
// a trace of the kernel's side has something to show. Where the device does not exist, nothing
// happens; what the module answers is not looked at, because the simulation does not depend on it.
// Request numbers and layouts: NVIDIA's open-gpu-kernel-modules (nv-ioctl.h, nv-ioctl-numbers.h,
// nvos.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace cuda_sim {

// A resource manager's name for one of its objects; 0 is none.
using Object = std::uint32_t;

// Classes of objects, as RM_ALLOC takes them.
enum class ObjectClass : std::uint32_t { kVideoMemory = 0x40, kClient = 0x41, kChannel = 0xc86f };

class ControlDevice {
public:
    ControlDevice() = default;
    ControlDevice(const ControlDevice&) = delete;
    ControlDevice& operator=(const ControlDevice&) = delete;

    // Opens CUDA_SIM_CONTROL (default /dev/nvidiactl), asks for its parameters, its cards and its
    // version, makes a client and asks it for its GPUs.
    void start();

    // RM_ALLOC and RM_FREE of one object. `create` returns 0 where there is no device.
    Object create(ObjectClass object_class);
    void destroy(Object object);

    // Frees the client and closes the device.
    void stop();

private:
    Object allocate(Object parent, Object object, ObjectClass object_class) const;

    int fd_ = -1;
    Object client_ = 0;
    std::atomic<Object> last_object_{0xcaf00000};
};

}  // namespace cuda_sim
