#include "plugin/backends/gaudi/device/host_buffers.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::gaudi {

// A buffer of common::HostMemory that the device can access. The destructor ends the device's access.
class HostBuffers::Buffer final : public hal::HostBuffer {
 public:
  Buffer(HostBuffers* owner, std::unique_ptr<hal::HostBuffer> range, Kind kind)
      : owner_(owner), range_(std::move(range)), kind_(kind) {}
  ~Buffer() override;

  void* data() const override { return range_->data(); }
  uint64_t size() const override { return range_->size(); }

 private:
  HostBuffers* const owner_;
  const std::unique_ptr<hal::HostBuffer> range_;
  const Kind kind_;
};

HostBuffers::Buffer::~Buffer() {
  if (owner_->liveness_.forked()) return;
  const auto begin = reinterpret_cast<uint64_t>(data());
  switch (kind_) {
    case Kind::kPool:
      owner_->pages_.RemovePool(begin);
      return;
    case Kind::kMapped:
      owner_->pages_.Unpin(begin, size());
      return;
    case Kind::kMalloc:
      owner_->pages_.RemovePinned(begin, size());
      const absl::Status status = HPU_SYNAPSE_CALL(owner_->functions_, synHostFree, (owner_->device_, data(), 0));
      if (!status.ok()) {
        HPU_LOG(kBackend, kWarning) << "cannot free host memory: " << status.message();
      }
      return;
  }
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostBuffers::Allocate(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return bytes > 0 && bytes <= kMaxPinnedAtOnce ? AllocatePinned(bytes) : AllocatePool(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostBuffers::AllocatePinned(uint64_t bytes) {
  void* data = nullptr;
  if (absl::Status status =
          HPU_SYNAPSE_CALL(functions_, synHostMalloc, (device_, bytes, 0, &data), "size=", bytes, ", device=", device_);
      !status.ok()) {
    return Reworded(status,
                    absl::StrCat("cannot allocate ", bytes, " bytes of mapped host memory: ", status.message()));
  }
  if (reinterpret_cast<uint64_t>(data) % static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) != 0) {
    functions_.synHostFree(device_, data, 0);
    return AllocatePool(bytes);
  }
  std::memset(data, 0, bytes);
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> range = ranges_.Map(data, bytes);
  if (!range.ok()) {
    functions_.synHostFree(device_, data, 0);
    return range;
  }
  pages_.AddPinned(reinterpret_cast<uint64_t>(data), bytes);
  return std::make_unique<Buffer>(this, *std::move(range), Kind::kMalloc);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostBuffers::AllocatePool(uint64_t bytes) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::HostBuffer> range, ranges_.Allocate(bytes));
  pages_.AddPool(reinterpret_cast<uint64_t>(range->data()), bytes);
  return std::make_unique<Buffer>(this, std::move(range), Kind::kPool);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostBuffers::Map(void* data, uint64_t bytes) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::HostBuffer> range, ranges_.Map(data, bytes));
  HPU_RETURN_IF_ERROR(pages_.Pin(reinterpret_cast<uint64_t>(data), bytes));
  return std::make_unique<Buffer>(this, std::move(range), Kind::kMapped);
}

absl::Status HostBuffers::Cut(const void* data, uint64_t bytes, absl::string_view what, PinnedPages::Pieces* pieces) {
  HPU_RETURN_IF_ERROR(ranges_.Check(data, bytes, what));
  if (bytes == 0) return absl::OkStatus();
  return pages_.Cut(reinterpret_cast<uint64_t>(data), bytes, pieces);
}

}  // namespace hpu::gaudi
