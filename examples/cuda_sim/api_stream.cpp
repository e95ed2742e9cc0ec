// Streams, their capture into graphs, and events. Work is done when it is submitted, so a stream is
// idle but for what other threads do in it.

#include <algorithm>

#include "api.h"
#include "driver.h"

namespace cuda_sim::api {
namespace {

constexpr int kGreatestPriority = -5;

// Turns a handle into the stream it stands for. `out` is what else must not be null.
CUresult known(CUstream& stream, const void* out) {
    if (CUresult error = context_ready()) return error;
    stream = find_stream(stream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult known(CUevent event, const void* out) {
    if (CUresult error = context_ready()) return error;
    if (!driver().events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// A captured stream cannot be waited for or asked: its work has not run.
CUresult is_idle(CUstream stream) {
    if (CUresult error = known(stream, &stream)) return error;
    std::lock_guard hold(stream->lock);
    return stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUgraph capture_of(CUstream stream) {
    std::lock_guard hold(stream->lock);
    return stream->capture;
}

// A stream that waits for an event of a captured stream is captured with it.
void join_capture(CUstream stream, CUgraph capture) {
    if (stream == &driver().default_stream) return;
    std::lock_guard hold(stream->lock);
    if (!stream->capture) stream->capture = capture;
}

CUresult record(CUevent event, CUstream stream) {
    if (CUresult error = known(event, event)) return error;
    if (!find_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
    event->capture = capture_of(find_stream(stream));
    return submit(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, [=] {
        event->recorded_ns = now_ns();
        return CUDA_SUCCESS;
    });
}

}  // namespace

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    if (CUresult error = context_ready()) return error;
    if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    *stream = driver().streams.add();
    (*stream)->context = current_context();
    (*stream)->flags = flags;
    (*stream)->priority = std::min(0, std::max(priority, kGreatestPriority));
    (*stream)->id = ++driver().last_stream_id;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    return api::cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream) {
    if (CUresult error = context_ready()) return error;
    return driver().streams.remove(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamQuery(CUstream stream) {
    return is_idle(stream);
}

// Other threads may have work in the stream.
CUresult cuStreamSynchronize(CUstream stream) {
    if (CUresult error = is_idle(stream)) return error;
    std::lock_guard after_it(find_stream(stream)->order);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    if (CUresult error = known(event, event)) return error;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    if (!find_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (CUgraph capture = event->capture) join_capture(find_stream(stream), capture);
    return submit(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, [] { return CUDA_SUCCESS; });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
    if (CUresult error = known(stream, priority)) return error;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
    if (CUresult error = known(stream, flags)) return error;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
    if (CUresult error = known(stream, id)) return error;
    *id = stream->id;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
    if (CUresult error = known(stream, context)) return error;
    *context = stream->context ? stream->context : current_context();
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    if (CUresult error = known(stream, &mode)) return error;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (stream == &driver().default_stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    std::lock_guard hold(stream->lock);
    if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    stream->capture = driver().graphs.add();
    stream->began_capture = true;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream) {
    return api::cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

// Ends it for all streams that joined it.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    if (CUresult error = known(stream, graph)) return error;
    const CUgraph captured = capture_of(stream);
    if (!captured) return CUDA_ERROR_ILLEGAL_STATE;
    if (!stream->began_capture) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    driver().streams.for_each([=](CUstream_st& one) {
        std::lock_guard hold(one.lock);
        if (one.capture != captured) return;
        one.capture = nullptr;
        one.began_capture = false;
    });
    driver().events.for_each([=](CUevent_st& event) {
        if (event.capture == captured) event.capture = nullptr;
    });
    *graph = captured;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    if (CUresult error = known(stream, status)) return error;
    std::lock_guard hold(stream->lock);
    *status = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   size_t* dependency_count) {
    if (CUresult error = api::cuStreamIsCapturing(stream, status)) return error;
    stream = find_stream(stream);
    if (id) *id = stream->id;
    if (graph) *graph = stream->capture;
    if (dependencies) *dependencies = nullptr;
    if (dependency_count) *dependency_count = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = is_idle(stream)) return error;
    return submit(stream, CU_GRAPH_NODE_TYPE_HOST, [=] {
        callback(stream, CUDA_SUCCESS, data);
        return CUDA_SUCCESS;
    });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(*mode, current);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    if (CUresult error = context_ready()) return error;
    if (!event || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    *event = driver().events.add();
    (*event)->context = current_context();
    (*event)->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    if (CUresult error = context_ready()) return error;
    return driver().events.remove(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return record(event, stream);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    return flags > 1 ? CUDA_ERROR_INVALID_VALUE : record(event, stream);
}

CUresult cuEventQuery(CUevent event) {
    return known(event, event);
}

CUresult cuEventSynchronize(CUevent event) {
    return known(event, event);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    if (CUresult error = known(start, milliseconds)) return error;
    if (CUresult error = known(end, milliseconds)) return error;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded_ns || !end->recorded_ns) return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = static_cast<float>(end->recorded_ns - start->recorded_ns) / 1e6f;
    return CUDA_SUCCESS;
}

}  // namespace cuda_sim::api
