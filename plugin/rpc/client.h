// Client side of the RPC library: a connection and its calls.
#ifndef HPU_PLUGIN_RPC_CLIENT_H_
#define HPU_PLUGIN_RPC_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "plugin/rpc/completion.h"
#include "plugin/rpc/rpc.h"
#include "plugin/rpc/write_queue.h"

namespace hpu::rpc {

class Call;

// A connection, and the thread that completes the operations of the connection's calls. All calls must be destroyed
// before the channel.
class Channel {
 public:
  // Returns null after an error and sets `status`.
  static std::unique_ptr<Channel> Connect(const hpu_rpc_client_options& options, grpc::Status* status);
  ~Channel();

  // Ends all calls.
  void Disconnect();

  // Registers a call. Returns false after Disconnect.
  bool Add(Call* call);
  void Remove(Call* call);

  // Adds the authorization to a call.
  void Authorize(grpc::ClientContext* context) const;
  grpc::GenericStub& stub() { return stub_; }
  grpc::CompletionQueue& queue() { return queue_; }

 private:
  // `fd` is the channel's socket, which gRPC closes; -1: unknown.
  Channel(const std::shared_ptr<grpc::Channel>& channel, int fd, std::string authorization);

  const int fd_;
  const std::string authorization_;
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  std::thread thread_;

  std::mutex mutex_;
  std::set<Call*> calls_;      // guarded by mutex_
  bool disconnected_ = false;  // guarded by mutex_
};

class Call {
 public:
  Call(Channel* channel, const std::string& method, const hpu_rpc_handler& handler);
  // Waits until the handler's on_done has returned.
  ~Call();

  bool Write(const void* data, size_t size) { return writes_.Push(data, size); }
  bool WriteJoinable(const void* data, size_t size) { return writes_.PushJoinable(data, size); }
  bool WaitWritable(size_t bytes) { return writes_.WaitUntilAtMost(bytes); }
  void WritesDone() { writes_.End(); }
  void Cancel() { context_.TryCancel(); }
  // Ends the call with UNAVAILABLE, because the connection is broken.
  void Break() {
    broken_ = true;
    context_.TryCancel();
  }

 private:
  // Completions of operations.
  void Started(bool ok);
  void Read(bool ok);
  void Written(bool ok);
  void Ended(bool ok);
  void Finished(bool ok);

  void Begin();
  // The last operation to end notifies the handler.
  void End();

  Channel* const channel_;
  const hpu_rpc_handler handler_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer received_;
  grpc::Status status_;
  std::atomic<bool> broken_{false};
  WriteQueue writes_;
  MethodCompletion<Call, &Call::Started> started_{this};
  MethodCompletion<Call, &Call::Read> read_{this};
  MethodCompletion<Call, &Call::Written> written_{this};
  MethodCompletion<Call, &Call::Ended> ended_{this};
  MethodCompletion<Call, &Call::Finished> finished_{this};

  std::mutex mutex_;
  std::condition_variable done_changed_;
  int running_ = 0;    // operations in progress; guarded by mutex_
  bool done_ = false;  // guarded by mutex_
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_CLIENT_H_
