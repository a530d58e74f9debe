#include "plugin/backends/common/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::common {
namespace {

constexpr uint64_t kHugePageFrom = uint64_t{4} << 20;

}  // namespace

class HostMemory::Buffer final : public hal::HostBuffer {
 public:
  Buffer(HostMemory* owner, void* data, uint64_t bytes, bool owned)
      : owner_(owner), data_(data), bytes_(bytes), owned_(owned) {
    owner_->mapped_.Insert(reinterpret_cast<uint64_t>(data_), bytes_);
  }
  ~Buffer() override {
    if (owner_->liveness_.forked()) return;
    owner_->mapped_.Erase(reinterpret_cast<uint64_t>(data_), bytes_);
    if (owned_) munmap(data_, bytes_);
  }

  void* data() const override { return data_; }
  uint64_t size() const override { return bytes_; }

 private:
  HostMemory* const owner_;
  void* const data_;
  const uint64_t bytes_;
  const bool owned_;
};

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostMemory::Allocate(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  if (bytes == 0) return absl::InvalidArgumentError("cannot allocate 0 bytes of mapped host memory");
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", bytes, " bytes of mapped host memory: ",
                                                     std::strerror(errno), "; lower TF_CPU_ALLOCATOR_SIZE_G"));
  }
  if (bytes >= kHugePageFrom) madvise(data, bytes, MADV_HUGEPAGE);
  return std::make_unique<Buffer>(this, data, bytes, /*owned=*/true);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> HostMemory::Map(void* data, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  if (data == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("cannot map ", bytes, " bytes of host memory at a null address"));
  }
  if (bytes == 0) return absl::InvalidArgumentError("cannot map 0 bytes of host memory");
  if (const uint64_t begin = reinterpret_cast<uint64_t>(data); bytes > ~begin) {
    return absl::InvalidArgumentError(absl::StrCat("cannot map ", bytes, " bytes of host memory at 0x",
                                                   absl::Hex(begin), ": the range exceeds the address space"));
  }
  return std::make_unique<Buffer>(this, data, bytes, /*owned=*/false);
}

absl::Status HostMemory::Check(const void* data, uint64_t bytes, absl::string_view what) const {
  if (bytes == 0) return absl::OkStatus();
  const uint64_t begin = reinterpret_cast<uint64_t>(data);
  RangeSet::Reader reader(mapped_);
  if (reader.Contains(begin, bytes)) return absl::OkStatus();
  const RangeSet::Range around = reader.Around(begin);
  if (around.end != 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", bytes, " bytes at offset ", begin - around.begin,
                                                   " exceed the mapped host memory of ", around.end - around.begin,
                                                   " bytes"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", bytes,
                   " bytes of host memory are not mapped for the device; allocate them with "
                   "AllocateHost or map them with MapHost first"));
}

}  // namespace hpu::common
