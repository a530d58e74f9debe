#include "plugin/backends/pjrt/device_exchange.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "plugin/backends/pjrt/device_contents.h"
#include "plugin/backends/pjrt/helper_programs.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

// Polling interval for failed ranks.
constexpr std::chrono::milliseconds kPoll{50};
// Time for a launch to end after a rank has failed or left.
constexpr std::chrono::seconds kGrace{2};

// End of a launch, which a thread of the plugin reports.
struct End {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<absl::Status> status;  // guarded by mutex
};

}  // namespace

DeviceExchange::~DeviceExchange() {
  Fail(absl::CancelledError("the buffer was not written: the collective that writes it was abandoned"));
}

absl::Status DeviceExchange::Prepare() {
  HPU_ASSIGN_OR_RETURN(executable_, world_.Find(client_, program_.stablehlo, program_.devices));
  HPU_ASSIGN_OR_RETURN(argument_, contents_.Argument(source_, program_.source_bytes));
  source_.clear();
  return absl::OkStatus();
}

absl::Status DeviceExchange::Launch(int32_t id) {
  PJRT_Buffer* const argument = argument_->handle.get();
  PJRT_Buffer* result = nullptr;
  HPU_ASSIGN_OR_RETURN(end_, Execute(*executable_, client_.plugin(), absl::MakeConstSpan(&argument, 1), /*kept=*/{},
                                     absl::MakeSpan(&result, 1), {client_.device(), id}));
  argument_.reset();
  destination_->handle = BufferHandle(result, Deleter<PJRT_Buffer>{&client_.plugin()});
  has_ended_ = true;
  launched_.set_value();
  return absl::OkStatus();
}

absl::Status DeviceExchange::Await(absl::FunctionRef<absl::Status()> check) {
  if (end_.IsReady()) return end_.Await();
  auto end = std::make_shared<End>();
  HPU_RETURN_IF_ERROR(end_.OnReady([end](absl::Status status) {
    std::lock_guard<std::mutex> lock(end->mutex);
    end->status = std::move(status);
    end->changed.notify_all();
  }));
  std::unique_lock<std::mutex> lock(end->mutex);
  absl::Status failure;
  auto deadline = std::chrono::steady_clock::time_point::max();
  while (!end->changed.wait_for(lock, kPoll, [&] { return end->status.has_value(); })) {
    if (failure.ok()) {
      failure = check();
      if (!failure.ok()) deadline = std::chrono::steady_clock::now() + kGrace;
    }
    if (std::chrono::steady_clock::now() > deadline) return failure;
  }
  return *end->status;
}

void DeviceExchange::Fail(const absl::Status& error) {
  if (has_ended_) return;
  has_ended_ = true;
  destination_->lost = error;
  launched_.set_value();
}

}  // namespace hpu::pjrt
