#include "plugin/hal/backend.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/gaudi/device/device.h"
#include "plugin/backends/gaudi/device/device_files.h"
#include "plugin/backends/gaudi/device/runtime.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"

namespace hpu::gaudi {
namespace {

class GaudiBackend final : public hal::Backend {
 public:
  // "gaudi", or "gaudi:" and the path of SynapseAI's library.
  explicit GaudiBackend(absl::string_view spec) : spec_(spec) {}

  absl::string_view name() const override { return spec_; }

  bool MarksOperation(absl::string_view operation) const override { return operation != kAttention; }

  absl::StatusOr<int> ModuleCount() override {
    HPU_ASSIGN_OR_RETURN(Runtime * runtime, GetRuntime());
    HPU_ASSIGN_OR_RETURN(const common::Modules modules, runtime->GetModules());
    return static_cast<int>(modules.ids.size());
  }

  absl::Status CheckOptions(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(Runtime * runtime, GetRuntime());
    HPU_ASSIGN_OR_RETURN(const common::Modules modules, runtime->GetModules());
    return common::CandidateModules(options, modules).status();
  }

  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options) override {
    HPU_ASSIGN_OR_RETURN(Runtime * runtime, GetRuntime());
    return GaudiDevice::Acquire(*runtime, options, spec_);
  }

 private:
  // Starts SynapseAI at the first call. Aborted in a process that was forked after the start. Retries after a failure.
  absl::StatusOr<Runtime*> GetRuntime() {
    if (Runtime* started = started_.load(); started != nullptr) {
      HPU_RETURN_IF_ERROR(started->Check());
      return started;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (runtime_ == nullptr) {
      absl::string_view path = spec_;
      path = absl::ConsumePrefix(&path, "gaudi:") && !path.empty() ? path : synapse::kDefaultLibrary;
      HPU_ASSIGN_OR_RETURN(runtime_, Runtime::Start(std::string(path)));
      started_.store(runtime_.get());
      EndAtExit();
    }
    return runtime_.get();
  }

  // Ends SynapseAI when the process exits, before the library's own objects are destroyed. Does not end SynapseAI while
  // a device is held, because threads may use SynapseAI. Backends live as long as the process.
  void EndAtExit() {
    static std::atomic<GaudiBackend*> first{nullptr};
    next_ = first.exchange(this);
    std::atexit([] {
      GaudiBackend* const backend = first.load();
      first.store(backend->next_);
      backend->End();
    });
  }
  void End() {
    if (!runtime_->Check().ok() || runtime_->held_module() >= 0) return;
    started_.store(nullptr);
    runtime_.reset();
  }

  const std::string spec_;
  std::mutex mutex_;
  std::unique_ptr<Runtime> runtime_;        // guarded by mutex_ until it is started
  std::atomic<Runtime*> started_{nullptr};  // runtime_, once it is started
  GaudiBackend* next_ = nullptr;            // started before this one
};

std::unique_ptr<hal::Backend> CreateBackend(absl::string_view spec) { return std::make_unique<GaudiBackend>(spec); }

const bool registered = hal::RegisterBackend("gaudi", -1, [] { return CreateBackend("gaudi"); });
const bool registered_scheme = hal::RegisterScheme("gaudi", CreateBackend, [] { return FindGaudi(); });

}  // namespace
}  // namespace hpu::gaudi
