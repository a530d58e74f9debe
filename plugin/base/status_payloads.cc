#include "plugin/base/status_payloads.h"

#include <array>

#include "absl/strings/cord.h"

namespace hpu {
namespace {

constexpr std::array<absl::string_view, 4> kUrls = {"hpu-tensorflow/crash", "hpu-tensorflow/host-memory-exhausted",
                                                    "hpu-tensorflow/remedy", "hpu-tensorflow/memory-statistics"};

absl::string_view UrlOf(Payload payload) { return kUrls[static_cast<size_t>(payload)]; }

}  // namespace

absl::Status With(absl::Status status, Payload payload) {
  status.SetPayload(UrlOf(payload), absl::Cord());
  return status;
}

bool Has(const absl::Status& status, Payload payload) { return status.GetPayload(UrlOf(payload)).has_value(); }

absl::Status Reworded(const absl::Status& status, absl::string_view message) {
  absl::Status result(status.code(), message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

}  // namespace hpu
