// FakeRpcApi: an hpu_rpc_api without sockets that passes messages directly to a server's call objects.
#ifndef HPU_PLUGIN_TESTING_FUZZ_FAKE_RPC_H_
#define HPU_PLUGIN_TESTING_FUZZ_FAKE_RPC_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "plugin/rpc/rpc.h"

namespace hpu::fuzz {

// One call from the server's point of view. Thread safe.
class FakeCall {
 public:
  void Send(std::string message);
  // Ends the client's side of the call.
  void End();

  // Blocks until the server has sent its first message or the call has ended. Returns nullopt if the call ended without
  // a message.
  std::optional<std::string> WaitForAnswer();
  // All messages that the server has written so far.
  std::deque<std::string> answers() const;
  // Number of messages that the server has read.
  size_t read() const;
  bool done() const;
  // Status with which the server ended the call; valid once done().
  int32_t code() const;
  std::string error() const;

 private:
  friend struct FakeRpc;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> incoming_;  // guarded by mutex_, like the members below except reading_
  std::deque<std::string> answers_;
  size_t read_ = 0;
  bool at_end_ = false;
  std::optional<int32_t> code_;
  std::string error_;
  std::string reading_;  // only used on the server's thread
};

// The API, with only the server-side functions that serve::Connection uses.
const hpu_rpc_api* FakeRpcApi();
// Serves a call with `serve_call` on this thread.
void Serve(hpu_rpc_serve_call serve_call, void* context, FakeCall* call, const std::string& method);

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_FAKE_RPC_H_
