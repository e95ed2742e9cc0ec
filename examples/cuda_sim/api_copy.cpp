// Copies: between host and device, within the device, and of rectangles and boxes.

#include <cstring>

#include "api.h"
#include "driver.h"
#include "work.h"

namespace cuda_sim::api {
namespace {

enum class Place { kHost, kDevice };

// A box of rows in memory; a rectangle is a box of depth 1, plain bytes are one row.
struct Side {
    Place place = Place::kHost;
    std::uintptr_t base = 0;
    size_t x = 0, y = 0, z = 0;          // where the box begins: bytes, rows, slices
    size_t pitch = 0, slice_height = 0;  // bytes from row to row, rows from slice to slice

    std::uintptr_t row(size_t slice, size_t row) const {
        return base + ((z + slice) * slice_height + y + row) * pitch + x;
    }
};

struct Extent {
    size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
    size_t bytes() const { return width * height * depth; }
};

Side host(const void* p) {
    return {.place = Place::kHost, .base = address_of(p)};
}
Side device(CUdeviceptr p) {
    return {.place = Place::kDevice, .base = p};
}

// What a pointer of the unified address space points at; unknown ones are pageable memory of the
// host.
Side unified(CUdeviceptr p) {
    const auto block = driver().memory.find(p);
    return block && block->family != Family::kHost && block->family != Family::kRegistered
               ? device(p)
               : host(pointer_to(p));
}

// Whether the driver knows all of the box, if it is on the device; the host's own memory is not
// checked.
bool is_inside(const Side& side, const Extent& extent) {
    if (side.place == Place::kHost) return side.base != 0;
    const auto first = side.row(0, 0), last = side.row(extent.depth - 1, extent.height - 1);
    return driver().memory.covers(first, last - first + extent.width);
}

void count(const Side& to, const Side& from, size_t bytes) {
    if (to.place == Place::kHost && from.place == Place::kHost) return;
    const Direction direction = from.place == Place::kHost ? Direction::kHostToDevice
                                : to.place == Place::kHost ? Direction::kDeviceToHost
                                                           : Direction::kDeviceToDevice;
    driver().books.copied(direction, bytes);
    if (direction == Direction::kDeviceToDevice) return;
    const auto block = driver().memory.find(to.place == Place::kHost ? to.base : from.base);
    driver().books.host_side(block.has_value(), bytes);
}

CUresult move(const Side& to, const Side& from, const Extent& extent) {
    if (extent.bytes() == 0) return CUDA_SUCCESS;
    if (!is_inside(to, extent) || !is_inside(from, extent)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t z = 0; z < extent.depth; ++z)
        for (size_t y = 0; y < extent.height; ++y)
            std::memmove(pointer_to(to.row(z, y)), pointer_to(from.row(z, y)), extent.width);
    count(to, from, extent.bytes());
    return CUDA_SUCCESS;
}

// A copy in a stream. Wrong pointers are found at once, not when a captured graph runs.
CUresult move_in_stream(const Side& to, const Side& from, const Extent& extent, CUstream stream) {
    if (extent.bytes() && (!is_inside(to, extent) || !is_inside(from, extent)))
        return CUDA_ERROR_INVALID_VALUE;
    return submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, [=] { return move(to, from, extent); });
}

CUresult move_now(const Side& to, const Side& from, const Extent& extent) {
    if (CUresult error = context_ready()) return error;
    return move(to, from, extent);
}

// Fills in place and base; CUDA_ERROR_NOT_SUPPORTED for arrays, which the simulation does not have.
CUresult locate(Side& side, CUmemorytype type, const void* on_host, CUdeviceptr on_device) {
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        side.place = Place::kHost;
        side.base = address_of(on_host);
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
        side.place = Place::kDevice;
        side.base = on_device;
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_UNIFIED: {
        const Side found = unified(on_device);
        side.place = found.place;
        side.base = found.base;
        return CUDA_SUCCESS;
    }
    case CU_MEMORYTYPE_ARRAY: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

struct Box {
    Side to, from;
    Extent extent;
};

// A pitch of 0 means rows without gaps.
CUresult finish(Box& box) {
    for (Side* side : {&box.to, &box.from}) {
        if (side->pitch == 0) side->pitch = box.extent.width;
        if (side->slice_height == 0) side->slice_height = box.extent.height;
        if (side->pitch < box.extent.width) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult read(const CUDA_MEMCPY2D* copy, Box& box) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    box.extent = {.width = copy->WidthInBytes, .height = copy->Height};
    box.from = {.x = copy->srcXInBytes, .y = copy->srcY, .pitch = copy->srcPitch};
    box.to = {.x = copy->dstXInBytes, .y = copy->dstY, .pitch = copy->dstPitch};
    if (CUresult error = locate(box.from, copy->srcMemoryType, copy->srcHost, copy->srcDevice))
        return error;
    if (CUresult error = locate(box.to, copy->dstMemoryType, copy->dstHost, copy->dstDevice))
        return error;
    return finish(box);
}

// CUDA_MEMCPY3D, or CUDA_MEMCPY3D_PEER, whose contexts do not matter here.
template <typename Copy> CUresult read(const Copy* copy, Box& box) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    box.extent = {.width = copy->WidthInBytes, .height = copy->Height, .depth = copy->Depth};
    box.from = {.x = copy->srcXInBytes,
                .y = copy->srcY,
                .z = copy->srcZ,
                .pitch = copy->srcPitch,
                .slice_height = copy->srcHeight};
    box.to = {.x = copy->dstXInBytes,
              .y = copy->dstY,
              .z = copy->dstZ,
              .pitch = copy->dstPitch,
              .slice_height = copy->dstHeight};
    if (CUresult error = locate(box.from, copy->srcMemoryType, copy->srcHost, copy->srcDevice))
        return error;
    if (CUresult error = locate(box.to, copy->dstMemoryType, copy->dstHost, copy->dstDevice))
        return error;
    return finish(box);
}

template <typename Copy> CUresult move_box(const Copy* copy) {
    Box box;
    if (CUresult error = context_ready()) return error;
    if (CUresult error = read(copy, box)) return error;
    return move(box.to, box.from, box.extent);
}

template <typename Copy> CUresult move_box_in_stream(const Copy* copy, CUstream stream) {
    Box box;
    if (CUresult error = context_ready()) return error;
    if (CUresult error = read(copy, box)) return error;
    return move_in_stream(box.to, box.from, box.extent, stream);
}

}  // namespace
}  // namespace cuda_sim::api

namespace cuda_sim {

CUresult prepare(const CUDA_MEMCPY3D* copy, Work& work) {
    api::Box box;
    if (CUresult error = api::read(copy, box)) return error;
    if (box.extent.bytes() &&
        (!api::is_inside(box.to, box.extent) || !api::is_inside(box.from, box.extent)))
        return CUDA_ERROR_INVALID_VALUE;
    work = [=] { return api::move(box.to, box.from, box.extent); };
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim

namespace cuda_sim::api {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return move_now(unified(to), unified(from), {bytes});
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return move_in_stream(unified(to), unified(from), {bytes}, stream);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
    return move_now(device(to), host(from), {bytes});
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
    return move_now(host(to), device(from), {bytes});
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return move_now(device(to), device(from), {bytes});
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return move_in_stream(device(to), host(from), {bytes}, stream);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return move_in_stream(host(to), device(from), {bytes}, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return move_in_stream(device(to), device(from), {bytes}, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
    return move_now(device(to), device(from), {bytes});
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                           CUstream stream) {
    return move_in_stream(device(to), device(from), {bytes}, stream);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
    return move_box(copy);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
    return move_box_in_stream(copy, stream);
}

// One after the other, up to the first that fails.
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* attribute_indices,
                            size_t attribute_count, size_t* failed, CUstream stream) {
    if (failed) *failed = SIZE_MAX;
    const bool has_attributes = attributes && attribute_indices && attribute_count > 0 &&
                                attribute_count <= count && attribute_indices[0] == 0;
    if (!to || !from || !sizes || !has_attributes) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
        const CUresult error = move_in_stream(unified(to[i]), unified(from[i]), {sizes[i]}, stream);
        if (error && failed) *failed = i;
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* attribute_indices,
                               size_t attribute_count, CUstream stream) {
    return api::cuMemcpyBatchAsync(to, from, sizes, count, attributes, attribute_indices,
                                   attribute_count, nullptr, stream);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
    return move_box(copy);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
    return move_box_in_stream(copy, stream);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) {
    return move_box(copy);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
    return move_box_in_stream(copy, stream);
}

}  // namespace cuda_sim::api
