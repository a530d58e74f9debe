// Fixtures for tests of PeerGroup: ranks on threads, and operands with guard pages.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_HARNESS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_HARNESS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/common/peers/peer_group.h"

namespace hpu::peers {

// Maps the segment a second time in the calling process.
inline std::unique_ptr<files::SharedMemory> MapAgain(const files::SharedMemory& segment) {
  files::FileDescriptor file(fcntl(segment.file().get(), F_DUPFD_CLOEXEC, 0));
  return files::SharedMemory::Open(std::move(file), segment.size()).value();
}

inline std::unique_ptr<PeerGroup> AttachTo(const files::SharedMemory& segment, int rank, int size) {
  return PeerGroup::Attach(MapAgain(segment), rank, size).value();
}

// All ranks of a communicator in this process.
class RankGroups {
 public:
  explicit RankGroups(int size) : segment_(PeerGroup::CreateSegment(size).value()) {
    for (int rank = 0; rank < size; ++rank) groups_.push_back(AttachTo(*segment_, rank, size));
  }

  int size() const { return static_cast<int>(groups_.size()); }
  const files::SharedMemory& segment() const { return *segment_; }
  PeerGroup& operator[](int rank) { return *groups_[rank]; }
  // Calls work(rank) on a thread per rank; returns the results by rank.
  template <typename Work>
  std::vector<absl::Status> Run(const Work& work) {
    std::vector<absl::Status> results(groups_.size());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank) {
      threads.emplace_back([&, rank] { results[rank] = work(rank); });
    }
    for (std::thread& thread : threads) thread.join();
    return results;
  }

 private:
  const std::unique_ptr<files::SharedMemory> segment_;
  std::vector<std::unique_ptr<PeerGroup>> groups_;
};

// Memory of an operand. Accesses after the operand's end fault; the destructor detects writes directly before the
// operand.
class GuardedMemory {
 public:
  explicit GuardedMemory(uint64_t bytes) : bytes_(bytes), mapped_((bytes + kGuard + kPage - 1) / kPage * kPage) {
    base_ = static_cast<char*>(mmap(nullptr, mapped_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + kPage, mapped_, PROT_READ | PROT_WRITE);
    std::memset(base_ + kPage, kPattern, mapped_ - bytes_);
  }
  GuardedMemory(GuardedMemory&& other) noexcept
      : bytes_(other.bytes_), mapped_(other.mapped_), base_(std::exchange(other.base_, nullptr)) {}
  ~GuardedMemory() {
    if (base_ == nullptr) return;
    for (char* guard = base_ + kPage; guard < data(); ++guard) {
      if (*guard != kPattern) {
        ADD_FAILURE() << "an operation wrote to memory directly before an operand";
        break;
      }
    }
    munmap(base_, mapped_ + 2 * kPage);
  }

  // Aligned to 64 bytes only if `bytes` is a multiple of 64.
  char* data() const { return base_ + kPage + mapped_ - bytes_; }
  uint64_t bytes() const { return bytes_; }
  std::vector<char> Contents() const { return std::vector<char>(data(), data() + bytes_); }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kGuard = 256;  // accessible, before the operand
  static constexpr char kPattern = 0x5a;

  const uint64_t bytes_;
  const uint64_t mapped_;
  char* base_;
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_GROUP_HARNESS_H_
