// FrontChannel: the session process's end of the control socket (hpu/serve/v1/control.proto).
#ifndef HPU_PLUGIN_SERVER_SERVICE_FRONT_CHANNEL_H_
#define HPU_PLUGIN_SERVER_SERVICE_FRONT_CHANNEL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hpu/serve/v1/control.pb.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/server/service/front.h"

namespace hpu::serve {

namespace control = ::hpu::serve::v1;

class FrontChannel final : public Front {
 public:
  struct Handlers {
    std::function<proto::Module()> report;  // the session's state
    std::function<void()> stop;             // the server stops, or its front process is gone
  };

  // Handlers run on the channel's thread.
  FrontChannel(files::FileDescriptor socket, Handlers handlers);
  ~FrontChannel() override;

  absl::Status Authorize(absl::string_view authorization) override;
  absl::StatusOr<ClaimedModule> Claim(const proto::Acquire& request) override;
  void Release() override;
  absl::StatusOr<proto::DescribeResponse> Describe() override;
  absl::Status Share(const files::SharedMemory& memory) override;
  absl::StatusOr<std::string> Seal(absl::string_view digest) override;
  absl::Status CheckSeal(absl::string_view digest, absl::string_view seal) override;
  absl::StatusOr<files::FileDescriptor> JoinGroup(const GroupRank& rank, int segment,
                                                  const std::function<bool()>& abandoned, GroupEnd on_end) override;
  void LeaveGroup(const GroupRank& rank, absl::string_view reason) override;
  void ReportRefusal(absl::string_view method, const absl::Status& status) override;

 private:
  struct Answer {
    control::ToSession message;
    files::FileDescriptor file;
  };

  // Sends a request and blocks until the answer arrives. Fails with the answer's error, and with Cancelled if
  // `abandoned` returns true.
  absl::StatusOr<Answer> Call(control::ToFront request, int file = -1,
                              const std::function<bool()>& abandoned = nullptr);
  absl::Status Send(const control::ToFront& request, int file = -1);
  void ReceiveAll();
  void Handle(Answer answer);

  const files::FileDescriptor socket_;
  const Handlers handlers_;

  std::mutex mutex_;
  std::condition_variable answered_;
  bool gone_ = false;  // guarded by mutex_, like last_number_ and expected_
  uint64_t last_number_ = 0;
  std::map<uint64_t, std::optional<Answer>> expected_;  // by request number; set when the answer arrives

  std::mutex groups_mutex_;                 // held while a group's handler runs
  std::map<std::string, GroupEnd> groups_;  // by id; guarded by groups_mutex_

  std::thread thread_;  // last member, because the thread uses all members above
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_FRONT_CHANNEL_H_
