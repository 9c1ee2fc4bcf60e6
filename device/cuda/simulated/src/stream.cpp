// Streams and events. A stream is a queue of tasks in order; a task may also wait for tasks of other streams. Eager,
// each is done when it is queued. Lazy, nothing is done before something waits for it; and then, with a seed, tasks of
// all streams are done in a random order that the dependencies allow, so that a missing one shows.
#include <algorithm>
#include "sim.h"

namespace sim {

struct Event {
  Context* context;
  std::shared_ptr<Stream> stream;  // of the last record; null: never recorded
  uint64_t count = 0;              // done when the stream has done so many
  Graph* capture = nullptr;        // the record was captured
  bool timed = true;
  std::chrono::steady_clock::time_point time;
  bool done() const { return !stream || stream->done >= count; }
};

static std::map<Stream*, std::shared_ptr<Stream>> streams;
static std::map<Event*, std::shared_ptr<Event>> events;
size_t live_streams() { return streams.size(); }
size_t live_events() { return events.size(); }

// Handles 0, 1 and 2 are the null stream.
std::shared_ptr<Stream> stream_of(Context* c, CUstream s) {
  if ((uintptr_t)s <= 2) return c->null_stream;
  auto found = streams.find((Stream*)s);
  return found == streams.end() || found->second->context != c ? nullptr : found->second;
}

// most is how many tasks a lazy stream holds: a driver's queue isn't endless either.
static const size_t most = 1000;

static bool ready(const Stream& s) {
  for (const Dependency& d : s.queue.front().after)
    if (d.stream->done < d.count) return false;
  return true;
}
// next is a stream whose first task can run, for the sake of s or, with a seed, any.
static Stream* next(Stream* s) {
  if (settings.seed) {
    std::vector<Stream*> can;
    for (auto& x : streams)
      if (x.second->context == s->context && !x.second->queue.empty() && ready(*x.second)) can.push_back(x.first);
    Stream* null = s->context->null_stream.get();
    if (!null->queue.empty() && ready(*null)) can.push_back(null);
    std::sort(can.begin(), can.end(), [](Stream* a, Stream* b) { return a->id < b->id; });
    if (!can.empty()) return can[chance()() % can.size()];
  }
  while (!ready(*s))
    for (const Dependency& d : s->queue.front().after)
      if (d.stream->done < d.count) {
        s = d.stream.get();
        break;
      }
  return s;
}

CUresult wait_for(Stream* s, uint64_t count) {
  Context* c = s->context;
  while (s->done < count) {
    if (c->sticky) return c->sticky;
    Stream* from = next(s);
    Task task = std::move(from->queue.front());
    from->queue.pop_front();
    CUresult r = task.run();
    from->done++;
    if (r) c->sticky = r;
  }
  return c->sticky;
}
CUresult wait_for_all(Context* c) {
  for (auto& x : streams)
    if (x.second->context == c)
      if (CUresult r = wait_for(x.first, x.first->submitted)) return r;
  return wait_for(c->null_stream.get(), c->null_stream->submitted);
}
void forget_streams(Context* c) {
  for (auto x = streams.begin(); x != streams.end();) x = x->second->context == c ? streams.erase(x) : std::next(x);
  for (auto x = events.begin(); x != events.end();) x = x->second->context == c ? events.erase(x) : std::next(x);
}

static Stream* capturing(Context* c) {
  for (auto& x : streams)
    if (x.second->context == c && x.second->capture) return x.first;
  return nullptr;
}
CUresult refuse_capture(Context* c) {
  Stream* s = capturing(c);
  if (!s) return CUDA_SUCCESS;
  s->capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult submit(Context* c, CUstream handle, Task task) {
  std::shared_ptr<Stream> s = stream_of(c, handle);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) {
    if (s->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    s->unjoined = s.get() != s->capture->origin;
    s->capture->tasks.push_back(std::move(task));
    return CUDA_SUCCESS;
  }
  if (s == c->null_stream) {
    if (Stream* other = capturing(c))
      if (other->blocking) return other->capture->invalid = true, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    for (auto& x : streams)
      if (x.second->context == c && x.second->blocking) task.after.push_back({x.second, x.second->submitted});
  } else if (s->blocking) {
    task.after.push_back({c->null_stream, c->null_stream->submitted});
  }
  s->queue.push_back(std::move(task));
  s->submitted++;
  if (!settings.lazy) return wait_for(s.get(), s->submitted);
  return s->queue.size() > most ? wait_for(s.get(), s->submitted - most) : CUDA_SUCCESS;
}

static CUstream create(Context* c, unsigned flags) {
  static uint64_t ids;
  auto s = std::make_shared<Stream>(Stream{c, !(flags & 1), ++ids});
  streams[s.get()] = s;
  return (CUstream)s.get();
}

static std::shared_ptr<Event> event_of(Context* c, CUevent e) {
  auto found = events.find((Event*)e);
  return found == events.end() || found->second->context != c ? nullptr : found->second;
}

}  // namespace sim

using namespace sim;

#define STREAM(s)                                            \
  ENTER;                                                     \
  std::shared_ptr<Stream> stream = stream_of(context, s);    \
  if (!stream) return CUDA_ERROR_INVALID_HANDLE
#define EVENT(e)                                             \
  ENTER;                                                     \
  std::shared_ptr<Event> event = event_of(context, e);       \
  if (!event) return CUDA_ERROR_INVALID_HANDLE

API cuStreamCreate(CUstream* out, unsigned flags) {
  ENTER;
  return *out = create(context, flags), CUDA_SUCCESS;
}
API cuStreamCreateWithPriority(CUstream* out, unsigned flags, int) {
  ENTER;
  return *out = create(context, flags), CUDA_SUCCESS;
}
API cuStreamDestroy_v2(CUstream s) {
  STREAM(s);
  if (stream == context->null_stream) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = wait_for(stream.get(), stream->submitted);
  streams.erase(stream.get());
  return r;
}
API cuStreamSynchronize(CUstream s) {
  STREAM(s);
  if (stream->capture || (stream == context->null_stream && capturing(context))) return refuse_capture(context);
  CUresult r = wait_for(stream.get(), stream->submitted);
  check_canaries(context);
  return r ? r : context->sticky;
}
API cuStreamQuery(CUstream s) {
  STREAM(s);
  if (stream->capture) return refuse_capture(context);
  if (stream->done == stream->submitted) return CUDA_SUCCESS;
  CUresult r = wait_for(stream.get(), stream->done + 1);  // who asks again and again must get an answer some day
  return r ? r : CUDA_ERROR_NOT_READY;
}
API cuStreamIsCapturing(CUstream s, int* status) {
  STREAM(s);
  return *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1, CUDA_SUCCESS;
}
API cuStreamWaitEvent(CUstream s, CUevent e, unsigned) {
  EVENT(e);
  std::shared_ptr<Stream> stream = stream_of(context, s);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {  // the waiting stream joins the capture, or its origin waits for a stream that did
    if (stream->capture && stream->capture != event->capture) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!stream->capture) stream->capture = event->capture, stream->unjoined = true;
    if (stream.get() == event->capture->origin) event->stream->unjoined = false;
    return CUDA_SUCCESS;
  }
  if (!event->stream || event->done()) return CUDA_SUCCESS;
  if (stream->capture) return stream->capture->invalid = true, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return submit(context, s, {[] { return CUDA_SUCCESS; }, {{event->stream, event->count}}});
}

API cuEventCreate(CUevent* out, unsigned flags) {
  ENTER;
  auto e = std::make_shared<Event>(Event{context});
  e->timed = !(flags & 2);
  events[e.get()] = e;
  return *out = (CUevent)e.get(), CUDA_SUCCESS;
}
API cuEventDestroy_v2(CUevent e) {
  EVENT(e);
  return events.erase(event.get()), CUDA_SUCCESS;
}
API cuEventRecord(CUevent e, CUstream s) {
  EVENT(e);
  std::shared_ptr<Stream> stream = stream_of(context, s);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  event->stream = stream;
  event->capture = stream->capture;
  if (stream->capture) return CUDA_SUCCESS;
  event->count = stream->submitted + 1;
  return submit(context, s, {[event] { return event->time = std::chrono::steady_clock::now(), CUDA_SUCCESS; }, {}});
}
API cuEventSynchronize(CUevent e) {
  EVENT(e);
  if (event->capture) return event->capture = nullptr, CUDA_ERROR_CAPTURED_EVENT;
  if (!event->stream) return CUDA_SUCCESS;
  return wait_for(event->stream.get(), event->count);
}
API cuEventQuery(CUevent e) {
  EVENT(e);
  if (event->capture) return event->capture = nullptr, CUDA_ERROR_CAPTURED_EVENT;
  if (event->done()) return CUDA_SUCCESS;
  CUresult r = wait_for(event->stream.get(), event->stream->done + 1);
  return r ? r : CUDA_ERROR_NOT_READY;
}
API cuEventElapsedTime(float* ms, CUevent a, CUevent b) {
  EVENT(a);
  std::shared_ptr<Event> end = event_of(context, b);
  if (!end || !event->timed || !end->timed || !event->stream || !end->stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!event->done() || !end->done()) return CUDA_ERROR_NOT_READY;
  return *ms = std::chrono::duration<float, std::milli>(end->time - event->time).count(), CUDA_SUCCESS;
}

// ---- capture: what is queued goes into a graph instead

API cuStreamBeginCapture_v2(CUstream s, int) {
  STREAM(s);
  if (!settings.capture) return CUDA_ERROR_NOT_SUPPORTED;
  if (stream == context->null_stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return refuse_capture(context);
  stream->capture = new Graph;
  stream->capture->origin = stream.get();
  return CUDA_SUCCESS;
}
API cuStreamBeginCapture(CUstream s) { return cuStreamBeginCapture_v2(s, 0); }
API cuThreadExchangeStreamCaptureMode(int*) {
  CALL;
  return CUDA_SUCCESS;
}
API cuStreamEndCapture(CUstream s, CUgraph* out) {
  STREAM(s);
  Graph* graph = stream->capture;
  *out = nullptr;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (graph->origin != stream.get()) return graph->invalid = true, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  CUresult r = graph->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  for (auto& x : streams)
    if (x.second->capture == graph) {
      if (x.second->unjoined && !r) r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
      x.second->capture = nullptr;
      x.second->unjoined = false;
    }
  for (auto& x : events)
    if (x.second->capture == graph) x.second->capture = nullptr, x.second->stream = nullptr;
  if (r) return delete graph, r;
  keep_graph(graph);
  return *out = (CUgraph)graph, CUDA_SUCCESS;
}

// cudasim_enqueue lets another library queue work: run returns 0 or a driver's error; drop frees data when it isn't needed
// any more. Captured work may run any number of times.
extern "C" __attribute__((visibility("default"))) int cudasim_enqueue(void* s, int (*run)(void*), void (*drop)(void*), void* data) {
  std::shared_ptr<void> held(data, drop);
  ENTER;
  return submit(context, (CUstream)s, {[run, held] { return run(held.get()); }, {}});
}
