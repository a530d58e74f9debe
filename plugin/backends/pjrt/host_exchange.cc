#include "plugin/backends/pjrt/host_exchange.h"

#include <memory>

#include "plugin/backends/pjrt/device_contents.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

// Waits for all events, because the copies use the caller's memory. Returns the first error.
absl::Status AwaitAll(const std::vector<Event>& ends, absl::Status status) {
  for (const Event& end : ends) status.Update(end.Await());
  return status;
}

}  // namespace

absl::Status HostExchange::Run(const peers::Exchange& exchange, const absl::Status& before, DeviceContents& contents) {
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<char*> data;
  absl::Status status = before;
  if (status.ok()) {
    for (const Operand& operand : operands_) {
      memory.emplace_back(new char[operand.bytes]);  // not initialised
      data.push_back(memory.back().get());
    }
    status = ReadSources(contents, data);
  }
  status = exchange(status, data);
  if (status.ok()) return WriteDestinations(data);
  FailDestinations(status);
  return status;
}

absl::Status HostExchange::ReadSources(DeviceContents& contents, absl::Span<char* const> data) const {
  std::vector<Event> ends;
  absl::Status status;
  for (size_t i = 0; i < operands_.size(); ++i) {
    status.Update(contents.CopyToHost(operands_[i].source, data[i], &ends));
  }
  return AwaitAll(ends, std::move(status));
}

absl::Status HostExchange::WriteDestinations(absl::Span<char* const> data) {
  std::vector<Event> ends;
  absl::Status status;
  for (size_t i = 0; i < operands_.size(); ++i) {
    for (BufferPromise& promise : operands_[i].destination) {
      absl::StatusOr<Event> end = promise.Fulfill(data[i]);
      if (end.ok()) ends.push_back(*std::move(end));
      status.Update(end.status());
    }
  }
  return AwaitAll(ends, std::move(status));
}

void HostExchange::FailDestinations(const absl::Status& error) {
  for (Operand& operand : operands_) {
    for (BufferPromise& promise : operand.destination) promise.Fail(error);
  }
}

}  // namespace hpu::pjrt
