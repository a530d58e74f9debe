#include "plugin/backends/common/device_memory.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/device_traits.h"

namespace hpu::common {
namespace {

// Freed ranges of at least this size are returned to the operating system; smaller ranges are likely to be reused soon.
constexpr uint64_t kDecommitBytes = uint64_t{4} << 20;

absl::Status CheckHostResult(const HostMemory& host, const hal::Recipe& recipe, size_t result, uint64_t address) {
  constexpr uint64_t kAlignment = hal::HostResults::kHostResultAlignment;
  const std::string what = absl::StrCat("launch of ", recipe.name(), ": result ", result);
  if (address % kAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the host address 0x", absl::Hex(address),
                                                   " is not a multiple of ", kAlignment, "; align the buffer"));
  }
  const uint64_t bytes = RoundUp(recipe.results()[result].spec.bytes, kAlignment);
  return host.Check(reinterpret_cast<const void*>(address), bytes, what);
}

}  // namespace

class DeviceMemory::Allocation final : public hal::Memory {
 public:
  Allocation(DeviceMemory* owner, hal::DeviceAddress address, uint64_t bytes)
      : owner_(owner), address_(address), bytes_(bytes) {}
  ~Allocation() override {
    if (!owner_->liveness_.forked()) owner_->Free(address_, bytes_);
  }

  hal::DeviceAddress address() const override { return address_; }
  uint64_t size() const override { return bytes_; }

 private:
  DeviceMemory* const owner_;
  const hal::DeviceAddress address_;
  const uint64_t bytes_;
};

DeviceMemory::DeviceMemory(std::unique_ptr<Reservation> reservation, const Liveness& liveness, BeforeFree before_free)
    : reservation_(std::move(reservation)),
      liveness_(liveness),
      before_free_(std::move(before_free)),
      allocator_(reservation_->size(), hal::kDeviceAlignment) {}

absl::StatusOr<std::unique_ptr<hal::Memory>> DeviceMemory::Allocate(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  if (bytes == 0) return absl::InvalidArgumentError("cannot allocate 0 bytes of device memory");
  std::optional<uint64_t> offset;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    offset = allocator_.Allocate(bytes);
    if (!offset.has_value()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "out of device memory: cannot allocate ", bytes, " bytes: ", allocator_.free_bytes(), " of ",
          allocator_.size(), " bytes are free, and the largest free block has ", allocator_.largest_free(),
          " bytes; use a smaller batch or model, or raise HPU_MEMORY_MB (now ", allocator_.size() >> 20, ")"));
    }
  }
  const hal::DeviceAddress address = reservation_->base() + *offset;
  allocated_.Insert(address, bytes);
  return std::make_unique<Allocation>(this, address, bytes);
}

void DeviceMemory::Free(hal::DeviceAddress address, uint64_t bytes) {
  before_free_(address, bytes);
  allocated_.Erase(address, bytes);
  if (bytes >= kDecommitBytes) reservation_->Decommit(address, bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  allocator_.Free(address - reservation_->base(), bytes);
}

hal::MemoryInfo DeviceMemory::info() const {
  if (!liveness_.Check().ok()) return hal::MemoryInfo{reservation_->size(), 0};
  std::lock_guard<std::mutex> lock(mutex_);
  return hal::MemoryInfo{allocator_.size(), allocator_.free_bytes()};
}

absl::Status DeviceMemory::Check(hal::DeviceAddress address, uint64_t bytes, absl::string_view what) const {
  RangeSet::Reader reader(allocated_);
  return CheckIn(reader, address, bytes, what);
}

absl::Status DeviceMemory::CheckIn(RangeSet::Reader& reader, hal::DeviceAddress address, uint64_t bytes,
                                   absl::string_view what) const {
  if (bytes == 0 || reader.Contains(address, bytes)) return absl::OkStatus();
  return RangeError(reader, address, bytes, what);
}

absl::Status DeviceMemory::RangeError(const RangeSet::Reader& reader, hal::DeviceAddress address, uint64_t bytes,
                                      absl::string_view what) const {
  const RangeSet::Range around = reader.Around(address);
  if (around.end != 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", bytes, " bytes at offset ", address - around.begin,
                                                   " exceed the allocation of ", around.end - around.begin, " bytes"));
  }
  const char* hint = address == 0                      ? " (null address)"
                     : reservation_->Contains(address) ? " (not allocated, or already freed)"
                                                       : " (is it a host pointer?)";
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", bytes, " bytes are not in allocated device memory", hint));
}

absl::Status DeviceMemory::CheckLaunch(hal::StreamKind kind, const hal::Recipe* recipe_or_null,
                                       const hal::LaunchArguments& launch, const HostMemory* host) const {
  if (recipe_or_null == nullptr)
    return absl::InvalidArgumentError("launch without a recipe: pass the result of Compile or LoadRecipe");
  const hal::Recipe& recipe = *recipe_or_null;
  if (kind != hal::StreamKind::kCompute) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch of ", recipe.name(), " on a copy stream: launches require a compute stream"));
  }
  const auto& arguments = recipe.arguments();
  const auto& results = recipe.results();
  if (launch.arguments.size() != arguments.size() || launch.results.size() != results.size()) {
    return absl::InvalidArgumentError(absl::StrCat("launch of ", recipe.name(), ": expected ", arguments.size(),
                                                   " arguments and ", results.size(), " results, got ",
                                                   launch.arguments.size(), " and ", launch.results.size()));
  }
  // Formats error texts only on failure, because the check runs for every argument of every launch.
  RangeSet::Reader reader(allocated_);
  const auto check = [&](hal::DeviceAddress address, uint64_t bytes, absl::string_view which, size_t index) {
    if (bytes == 0 || reader.Contains(address, bytes)) return absl::OkStatus();
    return RangeError(reader, address, bytes, absl::StrCat("launch of ", recipe.name(), ": ", which, " ", index));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    HPU_RETURN_IF_ERROR(check(launch.arguments[i], arguments[i].bytes, "argument", i));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const hal::DeviceAddress address = launch.results[i];
    if (host != nullptr && address != 0 && !reservation_->Contains(address)) {
      HPU_RETURN_IF_ERROR(CheckHostResult(*host, recipe, i, address));
    } else {
      HPU_RETURN_IF_ERROR(check(address, results[i].spec.bytes, "result", i));
    }
    const int32_t alias = results[i].aliased_argument;
    if (alias >= 0 && launch.results[i] != launch.arguments[alias]) {
      return absl::InvalidArgumentError(absl::StrCat("launch of ", recipe.name(), ": result ", i,
                                                     " must have the address of argument ", alias,
                                                     ", which it overwrites"));
    }
  }
  return check(launch.workspace, recipe.workspace_bytes(), "workspace", 0);
}

}  // namespace hpu::common
