// FakeFront: replacement for a device server's front process. Runs in this process and accepts every client.
#ifndef HPU_PLUGIN_TESTING_FUZZ_FAKE_FRONT_H_
#define HPU_PLUGIN_TESTING_FUZZ_FAKE_FRONT_H_

#include <string>

#include "plugin/compat/sha256.h"
#include "plugin/server/service/front.h"

namespace hpu::fuzz {

// Assigns module 0 to every client, and signs with a hash and a fixed key. Thread safe.
class FakeFront final : public serve::Front {
 public:
  absl::Status Authorize(absl::string_view) override { return absl::OkStatus(); }
  absl::StatusOr<ClaimedModule> Claim(const serve::proto::Acquire& request) override {
    if (request.faults_size() > 0) return absl::FailedPreconditionError("this server allows no faults");
    return ClaimedModule{0, 1, "a session of 16 B"};
  }
  void Release() override {}
  absl::StatusOr<serve::proto::DescribeResponse> Describe() override { return serve::proto::DescribeResponse(); }
  absl::Status Share(const files::SharedMemory&) override { return absl::OkStatus(); }
  absl::StatusOr<std::string> Seal(absl::string_view digest) override {
    return std::string(AsView(Sha256({"key", digest})));
  }
  absl::Status CheckSeal(absl::string_view digest, absl::string_view seal) override {
    if (seal == AsView(Sha256({"key", digest}))) return absl::OkStatus();
    return absl::PermissionDeniedError("the recipe is not signed with the key");
  }
  absl::StatusOr<files::FileDescriptor> JoinGroup(const GroupRank&, int, const std::function<bool()>&,
                                                  GroupEnd) override {
    return absl::UnimplementedError("there are no other ranks");
  }
  void LeaveGroup(const GroupRank&, absl::string_view) override {}
  void ReportRefusal(absl::string_view, const absl::Status&) override {}
};

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_FAKE_FRONT_H_
