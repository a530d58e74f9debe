// Server side of the RPC library: connections, and the calls of connected clients.
#ifndef HPU_PLUGIN_RPC_SERVER_H_
#define HPU_PLUGIN_RPC_SERVER_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "plugin/rpc/completion.h"
#include "plugin/rpc/error_log.h"
#include "plugin/rpc/message.h"
#include "plugin/rpc/rpc.h"
#include "plugin/rpc/write_queue.h"

namespace hpu::rpc {

class Server;

// One call of a client. Waits for the call, then serves the call on a separate thread from the first message on.
// Deletes itself after the call.
class ServerCall {
 public:
  explicit ServerCall(Server* server);

  const std::string& authorization() const { return authorization_; }
  hpu_rpc_read_result Read(int timeout_ms, const void** data, size_t* size);
  bool Write(const void* data, size_t size) { return writes_.Push(data, size); }
  bool WriteJoinable(const void* data, size_t size) { return writes_.PushJoinable(data, size); }
  bool WaitWritable(size_t bytes) { return writes_.WaitUntilAtMost(bytes); }
  void Cancel() { context_.TryCancel(); }
  void SetStatus(grpc::Status status) { status_ = std::move(status); }

 private:
  // Limits of received but unread messages. At a limit, the server stops receiving, so a client cannot fill the
  // server's memory.
  static constexpr size_t kMaxWaiting = 4;
  static constexpr size_t kMaxWaitingBytes = HPU_RPC_MAX_MESSAGE_BYTES;

  // Completions of operations.
  void Accepted(bool ok);
  void Received(bool ok);
  void Written(bool ok);
  void Finished(bool ok);
  void Gone(bool ok);  // the client has received the status, or has disconnected

  // Requires mutex_.
  void StartThread();
  void Run();
  // Requires mutex_.
  void ReceiveNext();
  void Begin();
  void End();

  Server* const server_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  WriteQueue writes_;
  MethodCompletion<ServerCall, &ServerCall::Accepted> accepted_{this};
  MethodCompletion<ServerCall, &ServerCall::Received> received_{this};
  MethodCompletion<ServerCall, &ServerCall::Written> written_{this};
  MethodCompletion<ServerCall, &ServerCall::Finished> finished_{this};
  MethodCompletion<ServerCall, &ServerCall::Gone> gone_{this};
  std::string authorization_;            // constant once the thread runs
  grpc::Status status_;                  // only used on the call's thread
  std::optional<MessageBytes> reading_;  // only used on the call's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::ByteBuffer incoming_;              // buffer of the receive in progress
  std::deque<grpc::ByteBuffer> messages_;  // guarded by mutex_, like all below
  size_t waiting_bytes_ = 0;               // total size of messages_
  bool receiving_ = false;
  bool started_ = false;  // whether the thread has started
  bool at_end_ = false;   // no further message will be received
  int running_ = 0;       // operations in progress
};

class Server {
 public:
  // Returns null after an error and sets `status`.
  static std::unique_ptr<Server> Start(const hpu_rpc_server_options& options, grpc::Status* status);
  ~Server();

  void ServeConnection(int fd);
  void Drain(int timeout_ms);

 private:
  friend class ServerCall;

  Server(hpu_rpc_serve_call serve_call, void* context) : serve_call_(serve_call), context_(context) {}
  void CallBegins();
  void CallEnds();

  const hpu_rpc_serve_call serve_call_;
  void* const context_;
  std::optional<ErrorLog> log_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable calls_changed_;
  int calls_ = 0;  // running calls; guarded by mutex_
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_SERVER_H_
