// RefusalLog: what the server did not do for its clients.
#ifndef HPU_PLUGIN_SERVE_REFUSAL_LOG_H_
#define HPU_PLUGIN_SERVE_REFUSAL_LOG_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hpu::serve {

// Clients cannot fill the disk with it: beyond kMostLines in kInterval, refusals are only counted. Thread safe.
class RefusalLog {
 public:
  static constexpr int kMostLines = 20;
  static constexpr absl::Duration kInterval = absl::Seconds(10);

  // Notes how a call ended; `peer` is the client's address. A call that was not refused is no warning.
  void Add(absl::string_view peer, absl::string_view method, const absl::Status& status);

  // The line to write at `now`, one without control characters; empty for none.
  std::string LineOf(absl::string_view peer, absl::string_view method, const absl::Status& status, absl::Time now);

 private:
  std::mutex mutex_;
  absl::Time begun_ = absl::InfinitePast();  // of the interval; guarded by mutex_, as all below
  int lines_ = 0;
  int64_t omitted_ = 0;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_REFUSAL_LOG_H_
