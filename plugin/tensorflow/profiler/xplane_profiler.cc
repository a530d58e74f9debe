// XPlane export for tf.profiler and TensorBoard: a device plane with a line per lane of the trace, and the planes that
// the device records.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/base/trace/instruction_stats.h"
#include "plugin/base/trace/trace.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tsl/profiler/lib/profiler_factory.h"
#include "tsl/profiler/lib/profiler_interface.h"
#include "tsl/profiler/protobuf/profiler_options.pb.h"
#include "tsl/profiler/protobuf/xplane.pb.h"

namespace hpu {
namespace {

using tensorflow::ProfileOptions;
using tensorflow::profiler::XEvent;
using tensorflow::profiler::XLine;
using tensorflow::profiler::XPlane;

// TensorBoard shows planes of unknown devices only with the prefix /device:CUSTOM:.
constexpr char kPlane[] = "/device:CUSTOM:HPU:0";
// Tracer level from which shapes are included.
constexpr uint32_t kDetailedLevel = 2;

// Fills one device's plane. Names are stored once and referenced by number.
class PlaneWriter {
 public:
  PlaneWriter(XPlane* plane, int64_t number) : plane_(plane) {
    plane_->set_name(kPlane);
    plane_->set_id(number);
  }

  void Add(const trace::Event& event) {
    XLine* line = LineOf(event);
    XEvent* added = line->add_events();
    added->set_metadata_id(event.instruction == nullptr ? NumberOf(event.name) : NumberOf(event));
    added->set_offset_ps((event.begin_ns - line->timestamp_ns()) * 1000);
    added->set_duration_ps((event.end_ns - event.begin_ns) * 1000);
    if (event.bytes > 0) {
      auto* stat = added->add_stats();
      stat->set_metadata_id(Stat("bytes"));
      stat->set_uint64_value(event.bytes);
    }
    if (!event.detail.empty()) {
      auto* stat = added->add_stats();
      stat->set_metadata_id(Stat("shapes"));
      stat->set_str_value(event.detail);
    }
  }

 private:
  int64_t Stat(const std::string& name) {
    const auto [found, inserted] = stats_.emplace(name, static_cast<int64_t>(stats_.size()) + 1);
    if (inserted) {
      auto& metadata = (*plane_->mutable_stat_metadata())[found->second];
      metadata.set_id(found->second);
      metadata.set_name(name);
    }
    return found->second;
  }

  // Adds metadata for events of this name.
  tensorflow::profiler::XEventMetadata& AddMetadata(const std::string& name) {
    const int64_t number = static_cast<int64_t>(plane_->event_metadata_size()) + 1;
    auto& metadata = (*plane_->mutable_event_metadata())[number];
    metadata.set_id(number);
    metadata.set_name(name);
    return metadata;
  }

  int64_t NumberOf(const std::string& name) {
    int64_t& number = names_.emplace(name, 0).first->second;
    if (number == 0) number = AddMetadata(name).id();
    return number;
  }

  // Events of one instruction share metadata, which holds the instruction's stats.
  int64_t NumberOf(const trace::Event& event) {
    int64_t& number = instructions_.emplace(event.instruction.get(), 0).first->second;
    if (number != 0) return number;
    tensorflow::profiler::XEventMetadata& metadata = AddMetadata(event.name);
    for (const auto& [name, value] : trace::StatsOf(*event.instruction)) {
      auto* stat = metadata.add_stats();
      stat->set_metadata_id(Stat(name));
      stat->set_str_value(value);
    }
    return number = metadata.id();
  }

  // Events are sorted by start time, so a line starts with its first event.
  XLine* LineOf(const trace::Event& event) {
    int& index = lines_.emplace(event.lane, -1).first->second;
    if (index < 0) {
      index = plane_->lines_size();
      XLine* line = plane_->add_lines();
      line->set_id(static_cast<int64_t>(event.lane));
      line->set_name(trace::LaneName(event.lane));
      line->set_timestamp_ns(event.begin_ns);
    }
    return plane_->mutable_lines(index);
  }

  XPlane* const plane_;
  // Numbers of metadata.
  std::map<std::string, int64_t> stats_, names_;
  std::map<const trace::Instruction*, int64_t> instructions_;
  std::map<trace::Lane, int> lines_;
};

// One profile. TensorFlow calls a profiler on one thread at a time.
class HpuProfiler : public tsl::profiler::ProfilerInterface {
 public:
  explicit HpuProfiler(const ProfileOptions& options)
      : options_(options.SerializeAsString()), detailed_(options.device_tracer_level() >= kDetailedLevel) {}

  absl::Status Start() override {
    if (session_.has_value()) return absl::FailedPreconditionError("the HPU trace is already running; stop it first");
    session_.emplace(detailed_);
    device_status_ = StartDevice();
    return absl::OkStatus();
  }

  absl::Status Stop() override {
    if (!session_.has_value()) return absl::OkStatus();
    session_->Stop();
    if (device_status_.ok()) device_record_ = Recorder()->TakeRecord();
    return absl::OkStatus();
  }

  absl::Status CollectData(tensorflow::profiler::XSpace* space) override {
    if (!session_.has_value()) return absl::OkStatus();
    const trace::Session::Recorded recorded = session_->Collect();
    session_.reset();
    if (recorded.dropped > 0) {
      space->add_warnings("The HPU trace is incomplete, because the trace buffer was full. Dropped events: " +
                          std::to_string(recorded.dropped) + ". Profile fewer steps.");
    }
    AddDevicePlanes(space);
    if (recorded.events.empty()) return absl::OkStatus();
    const int64_t number = UnusedNumber(*space);
    PlaneWriter plane(space->add_planes(), number);
    for (const trace::Event& event : recorded.events) plane.Add(event);
    return absl::OkStatus();
  }

 private:
  // Null if there is no device, or if the device does not record its activity.
  static hal::ActivityRecorder* Recorder() {
    const ProcessDevice* device = ProcessDevice::GetIfAcquired();
    return device == nullptr ? nullptr : device->traits().activity_recorder;
  }

  // Number for another plane. The trace viewer merges planes with equal numbers; the host's plane has number 0.
  static int64_t UnusedNumber(const tensorflow::profiler::XSpace& space) {
    int64_t largest = 0;
    for (const XPlane& plane : space.planes()) largest = std::max<int64_t>(largest, plane.id());
    return largest + 1;
  }

  // Starts the device's record. UNIMPLEMENTED if the device cannot record; callers ignore this error.
  absl::Status StartDevice() const {
    hal::ActivityRecorder* recorder = Recorder();
    return recorder == nullptr ? absl::UnimplementedError("") : recorder->StartRecord(options_);
  }

  // Adds the planes that the device recorded. Adds a warning if the record failed.
  void AddDevicePlanes(tensorflow::profiler::XSpace* space) const {
    absl::Status status = device_status_;
    if (status.ok()) status = device_record_.status();
    tensorflow::profiler::XSpace record;
    if (status.ok() && !record.ParseFromString(*device_record_)) {
      status = absl::InternalError("the device's record is not a valid XSpace; update the backend's library");
    }
    for (XPlane& plane : *record.mutable_planes()) space->add_planes()->Swap(&plane);
    if (!status.ok() && !absl::IsUnimplemented(status)) {
      space->add_warnings("The profile lacks the device's activity: " + std::string(status.message()));
    }
  }

  const std::string options_;  // serialised ProfileOptions
  const bool detailed_;
  std::optional<trace::Session> session_;
  absl::Status device_status_;                 // result of StartDevice()
  absl::StatusOr<std::string> device_record_;  // valid after Stop if device_status_ is OK
};

std::unique_ptr<tsl::profiler::ProfilerInterface> MakeProfiler(const ProfileOptions& options) {
  const bool ours =
      options.device_type() == ProfileOptions::UNSPECIFIED || options.device_type() == ProfileOptions::PLUGGABLE_DEVICE;
  if (!ours || options.device_tracer_level() == 0) return nullptr;
  return std::make_unique<HpuProfiler>(options);
}

[[maybe_unused]] const bool registered = [] {
  tsl::profiler::RegisterProfilerFactory(MakeProfiler);
  return true;
}();

}  // namespace
}  // namespace hpu
