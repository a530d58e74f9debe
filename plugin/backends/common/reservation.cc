#include "plugin/backends/common/reservation.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/round_up.h"

namespace hpu::common {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// Distance between window and data, so that a small overrun of the window does not reach the data.
constexpr uint64_t kGap = uint64_t{1} << 30;

absl::Status MapError(const char* call, uint64_t bytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot reserve ", bytes >> 20, " MiB of address space for device memory (", call, ": ", std::strerror(errno),
      "); lower HPU_MEMORY_MB, raise ulimit -v, or allow overcommit (sysctl vm.overcommit_memory=0)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reservation>> Reservation::Create(uint64_t bytes, Data data) {
  const uint64_t size = RoundUp(bytes, kHugePage);
  const uint64_t total = (data == Data::kReadWrite ? 2 * size + kGap : size) + kHugePage;
  void* mapping = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return MapError("mmap", total);
  const uint64_t base = RoundUp(reinterpret_cast<uint64_t>(mapping), kHugePage);
  const uint64_t distance = data == Data::kReadWrite ? size + kGap : 0;
  // Creates the owner first, so that the error paths below unmap.
  std::unique_ptr<Reservation> reservation(new Reservation(mapping, total, base, bytes, distance));
  madvise(mapping, total, MADV_DONTDUMP);
  if (data == Data::kReadWrite) {
    void* memory = reservation->ToData(base);
    if (mprotect(memory, size, PROT_READ | PROT_WRITE) != 0) return MapError("mprotect", size);
    madvise(memory, size, MADV_DONTFORK);
    madvise(memory, size, MADV_HUGEPAGE);
  }
  return reservation;
}

uint64_t Reservation::CommittedBytes() const {
  if (distance_ == 0) return 0;
  // Queries in parts to bound `resident`: mincore writes a byte for each page.
  constexpr uint64_t kPart = uint64_t{1} << 30;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident(std::min(kPart, RoundUp(size_, page)) / page);
  uint64_t pages = 0;
  for (uint64_t at = 0; at < size_; at += kPart) {
    const uint64_t part = RoundUp(std::min(kPart, size_ - at), page);
    if (mincore(ToData(base_ + at), part, resident.data()) != 0) return 0;
    pages += std::count_if(resident.begin(), resident.begin() + part / page, [](unsigned char in) { return in & 1; });
  }
  return pages * page;
}

Reservation::~Reservation() { munmap(mapping_, mapping_bytes_); }

void Reservation::Decommit(uint64_t address, uint64_t bytes) {
  if (distance_ == 0) return;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = RoundUp(address, page);
  const uint64_t end = (address + bytes) / page * page;
  if (begin < end) madvise(ToData(begin), end - begin, MADV_DONTNEED);
}

}  // namespace hpu::common
