// HostPieces: pool of host buffers for the copies of a device server's stream.
#ifndef HPU_PLUGIN_SERVER_SERVICE_HOST_PIECES_H_
#define HPU_PLUGIN_SERVER_SERVICE_HOST_PIECES_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/device.h"
#include "plugin/server/service/byte_budget.h"

namespace hpu::serve {

// A few reusable pieces of equal size for one stream. Thread safe. Must not outlive the device.
class HostPieces {
 public:
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  static constexpr int kMaxPieces = 8;

  // Pieces count against `budget`. The first piece is created even if the budget is used up, because the stream would
  // otherwise block forever.
  HostPieces(hal::Device* device, ByteBudget* budget) : device_(device), budget_(budget) {}

  // Returns a piece. Blocks while all pieces are in use. The last reference returns the piece to the pool.
  absl::StatusOr<std::shared_ptr<hal::HostBuffer>> Acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (free_.empty() && made_ < kMaxPieces) HPU_RETURN_IF_ERROR(MakePiece());
    returned_.wait(lock, [this] { return !free_.empty(); });
    hal::HostBuffer* const piece = free_.back().release();
    free_.pop_back();
    return std::shared_ptr<hal::HostBuffer>(piece, [this](hal::HostBuffer* used) { Return(used); });
  }

 private:
  // Requires mutex_. If the budget is used up, creates only the first piece.
  absl::Status MakePiece() {
    ByteBudget::Share share = budget_->Reserve(kPieceBytes);
    if (share == nullptr && made_ > 0) return absl::OkStatus();
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::HostBuffer> piece, device_->AllocateHost(kPieceBytes));
    free_.push_back(std::move(piece));
    shares_.push_back(std::move(share));
    ++made_;
    return absl::OkStatus();
  }
  void Return(hal::HostBuffer* piece) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.emplace_back(piece);
    returned_.notify_one();
  }

  hal::Device* const device_;
  ByteBudget* const budget_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<hal::HostBuffer>> free_;  // guarded by mutex_
  std::vector<ByteBudget::Share> shares_;               // one for each piece, null if not counted; guarded by mutex_
  int made_ = 0;                                        // guarded by mutex_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_HOST_PIECES_H_
