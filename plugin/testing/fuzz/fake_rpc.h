// An hpu_rpc_api without sockets, to give a server's call objects messages directly.
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

// One call as the server sees it. Thread safe.
class FakeCall {
 public:
  void Send(std::string message);
  // No message follows.
  void End();

  // Waits for the first message of the server, or for the end of the call: then there is none.
  std::optional<std::string> WaitForAnswer();
  // All that the server has written so far.
  std::deque<std::string> answers() const;
  // Messages that the server has read.
  size_t read() const;
  bool done() const;
  // With what the server ended it; valid once it is done.
  int32_t code() const;
  std::string error() const;

 private:
  friend struct FakeRpc;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> incoming_;  // guarded by mutex_, as all below
  std::deque<std::string> answers_;
  size_t read_ = 0;
  bool at_end_ = false;
  std::optional<int32_t> code_;
  std::string error_;
  std::string reading_;  // of the server's thread
};

// The functions of a server's side that a connection uses.
const hpu_rpc_api* FakeRpcApi();
// Has `serve_call` serve a call, on this thread.
void Serve(hpu_rpc_serve_call serve_call, void* context, FakeCall* call, const std::string& method);

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_FAKE_RPC_H_
