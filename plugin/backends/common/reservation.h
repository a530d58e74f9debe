// Reservation: reserved address window for device memory, and memory for the data if the backend keeps the data in this
// process.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_RESERVATION_H_
#define HPU_PLUGIN_BACKENDS_COMMON_RESERVATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace hpu::common {

// Address space only: no page is committed until the backend writes to it. The window has no access rights:
// dereferencing a device address faults, and a system call with a device address fails with EFAULT. The data is at a
// constant distance from the window, in memory that is private to this process and not inherited by its children.
// Thread safe.
class Reservation {
 public:
  enum class Data { kNone, kReadWrite };

  // Requires `bytes` > 0. Fails with ResourceExhausted if the address space is not available; the text names the
  // setting to lower.
  static absl::StatusOr<std::unique_ptr<Reservation>> Create(uint64_t bytes, Data data);
  ~Reservation();

  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  uint64_t base() const { return base_; }  // first address of the window
  uint64_t size() const { return size_; }  // bytes of the window
  bool Contains(uint64_t address) const { return address - base_ < size_; }

  // Host address of the data at a device address. Only with Data::kReadWrite.
  char* ToData(uint64_t address) const { return reinterpret_cast<char*>(address + distance_); }
  // Returns the pages that are entirely in a range to the operating system. The contents of these pages are lost.
  void Decommit(uint64_t address, uint64_t bytes);
  // Bytes of the data's resident pages. Queries the kernel for each page, which takes milliseconds for tens of GiB.
  uint64_t CommittedBytes() const;

 private:
  Reservation(void* mapping, size_t mapping_bytes, uint64_t base, uint64_t size, uint64_t distance)
      : mapping_(mapping), mapping_bytes_(mapping_bytes), base_(base), size_(size), distance_(distance) {}

  void* const mapping_;
  const size_t mapping_bytes_;
  const uint64_t base_;
  const uint64_t size_;
  const uint64_t distance_;  // 0: no data
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_RESERVATION_H_
