#include "plugin/serve/refusal_log.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "plugin/log/log.h"

namespace hpu::serve {
namespace {

// The other codes tell of clients that go and of modules that are held.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnauthenticated:
      return true;
    default:
      return false;
  }
}

}  // namespace

void RefusalLog::Add(absl::string_view peer, absl::string_view method, const absl::Status& status) {
  if (!IsRefusal(status)) {
    HPU_LOG(kBackend, kInfo) << "call of " << method << " ended: " << status;
    return;
  }
  const std::string line = LineOf(peer, method, status, absl::Now());
  if (line.empty()) return;
  HPU_LOG(kBackend, kWarning) << line;
}

std::string RefusalLog::LineOf(absl::string_view peer, absl::string_view method, const absl::Status& status,
                               absl::Time now) {
  std::string line = absl::StrCat("refused ", method, " of ", peer, ": ", status.ToString());
  std::lock_guard<std::mutex> lock(mutex_);
  if (now - begun_ >= kInterval) {
    if (omitted_ > 0) absl::StrAppend(&line, " (", omitted_, " refusals before it were not logged)");
    begun_ = now;
    lines_ = 0;
    omitted_ = 0;
  }
  if (++lines_ > kMostLines) {
    ++omitted_;
    return "";
  }
  // Parts of it are a client's words.
  std::replace_if(line.begin(), line.end(), [](unsigned char c) { return absl::ascii_iscntrl(c); }, ' ');
  return line;
}

}  // namespace hpu::serve
