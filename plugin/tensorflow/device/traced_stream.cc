#include "plugin/tensorflow/device/traced_stream.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/nvtx.h"
#include "plugin/base/trace/trace.h"
#include "plugin/tensorflow/device/stream_wrapper.h"

namespace hpu {
namespace {

using trace::Lane;

void AppendShape(const hal::TensorSpec& spec, std::string* text) {
  absl::StrAppend(text, hal::NameOf(spec.dtype), "[", absl::StrJoin(spec.dims, ","), "]");
}

// "(float32[32,784], …) -> (float32[32,10])"
std::string ShapesOf(const hal::Recipe& recipe) {
  std::string text = "(";
  for (const hal::TensorSpec& argument : recipe.arguments()) {
    if (text.size() > 1) absl::StrAppend(&text, ", ");
    AppendShape(argument, &text);
  }
  absl::StrAppend(&text, ") -> (");
  bool first = true;
  for (const hal::ResultSpec& result : recipe.results()) {
    if (!std::exchange(first, false)) absl::StrAppend(&text, ", ");
    AppendShape(result.spec, &text);
  }
  return absl::StrCat(text, ")");
}

// Shapes, and the attributes of an op outside clusters: "(float32[2,2], …) -> (float32[2,2]) {transpose_a=true, …}"
std::string DetailsOf(const hal::Recipe& recipe) {
  const std::string_view attributes = trace::LaunchName::CurrentAttributes();
  return attributes.empty() ? ShapesOf(recipe) : absl::StrCat(ShapesOf(recipe), " {", attributes, "}");
}

std::string NameOf(const hal::Recipe& recipe) {
  return trace::LaunchName::Current().empty() ? recipe.name() : std::string(trace::LaunchName::Current());
}

class TracedStream final : public StreamWrapper {
 public:
  explicit TracedStream(std::unique_ptr<hal::Stream> stream) : StreamWrapper(std::move(stream)) {}

  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override {
    const auto queue = [&] { return inner().CopyToDevice(source, destination, bytes); };
    return IsTraced() ? Copy(Lane::kCopyToDevice, "Copy to the device", bytes, queue) : queue();
  }
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override {
    const auto queue = [&] { return inner().CopyToHost(source, destination, bytes); };
    return IsTraced() ? Copy(Lane::kCopyToHost, "Copy to the host", bytes, queue) : queue();
  }
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override {
    const auto queue = [&] { return inner().CopyOnDevice(source, destination, bytes); };
    return IsTraced() ? Copy(Lane::kCopyOnDevice, "Copy on the device", bytes, queue) : queue();
  }
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override {
    if (!IsTraced()) return inner().Launch(std::move(recipe), arguments);
    trace::Event event;
    event.lane = Lane::kCompute;
    event.name = NameOf(*recipe);
    if (trace::IsDetailed() || trace::HasDetailedNvtx()) event.detail = DetailsOf(*recipe);
    return Traced(std::move(event), [&] { return inner().Launch(std::move(recipe), arguments); });
  }

 private:
  static bool IsTraced() { return trace::IsOn() || trace::HasNvtx(); }

  template <typename Queue>
  absl::Status Copy(Lane lane, const char* name, uint64_t bytes, const Queue& queue) {
    if (bytes == 0) return queue();
    trace::Event event;
    event.lane = lane;
    event.name = name;
    event.bytes = bytes;
    return Traced(std::move(event), queue);
  }

  // Queues the work within a range if HasNvtx(), and as an event if a session runs.
  template <typename Queue>
  absl::Status Traced(trace::Event event, const Queue& queue) {
    std::optional<trace::NvtxRange> range;
    if (trace::HasNvtx()) {
      const bool is_detailed = trace::HasDetailedNvtx() && !event.detail.empty();
      range.emplace(event.lane, is_detailed ? absl::StrCat(event.name, " ", event.detail) : event.name, event.bytes);
    }
    return trace::IsOn() ? Recorded(std::move(event), queue) : queue();
  }

  // Reads the clock in two callbacks, one queued before the work and one after the work. Work that another thread
  // queues between the callbacks counts as part of this event.
  template <typename Queue>
  absl::Status Recorded(trace::Event event, const Queue& queue) {
    auto shared = std::make_shared<trace::Event>(std::move(event));
    HPU_RETURN_IF_ERROR(inner().AddCallback([shared](const absl::Status&) { shared->begin_ns = trace::NowNs(); }));
    HPU_RETURN_IF_ERROR(queue());
    return inner().AddCallback([shared](const absl::Status& status) {
      if (!status.ok()) return;  // the work failed or was skipped
      shared->end_ns = trace::NowNs();
      trace::Record(std::move(*shared));
    });
  }
};

}  // namespace

std::unique_ptr<hal::Stream> TraceStream(std::unique_ptr<hal::Stream> stream) {
  return std::make_unique<TracedStream>(std::move(stream));
}

}  // namespace hpu
