#include "plugin/backends/gaudi/device/step_driver.h"

#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// Iterations of counted loops that are queued at a time: SynapseAI's queues are bounded.
constexpr uint64_t kMaxQueuedIterations = 32;

class StepDriver {
 public:
  StepDriver(const StepLaunch& launch, StepQueue* queue) : launch_(launch), queue_(queue) {}

  absl::Status Run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      HPU_RETURN_IF_ERROR(step.graph >= 0 ? queue_->LaunchGraph(launch_.recipe->graph(step), launch_) : RunLoop(step));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunLoop(const Step& loop) {
    for (uint64_t i = 0;; ++i) {
      HPU_RETURN_IF_ERROR(queue_->Check());
      HPU_ASSIGN_OR_RETURN(const bool goes_on, GoesOn(loop, i));
      if (!goes_on) return absl::OkStatus();
      HPU_RETURN_IF_ERROR(Run(loop.body));
    }
  }

  absl::StatusOr<bool> GoesOn(const Step& loop, uint64_t iteration) {
    if (!loop.count.has_value()) {
      HPU_ASSIGN_OR_RETURN(const uint8_t predicate, queue_->ReadByte(launch_.addresses[loop.predicate]));
      return predicate != 0;
    }
    if (iteration > 0 && iteration % kMaxQueuedIterations == 0) HPU_RETURN_IF_ERROR(queue_->Await());
    return iteration < *loop.count;
  }

  const StepLaunch& launch_;
  StepQueue* const queue_;
};

}  // namespace

absl::Status RunSteps(const StepLaunch& launch, StepQueue* queue) {
  return StepDriver(launch, queue).Run(launch.recipe->steps());
}

}  // namespace hpu::gaudi
