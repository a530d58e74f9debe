#include "plugin/testing/fuzz/fake_rpc.h"

#include <chrono>
#include <utility>

namespace hpu::fuzz {
namespace {

FakeCall* Cast(hpu_rpc_server_call* call) { return reinterpret_cast<FakeCall*>(call); }

}  // namespace

struct FakeRpc {
  static hpu_rpc_read_result Read(hpu_rpc_server_call* rpc_call, int32_t timeout_ms, const void** data, size_t* size) {
    FakeCall& call = *Cast(rpc_call);
    std::unique_lock<std::mutex> lock(call.mutex_);
    const auto ready = [&call] { return call.at_end_ || !call.incoming_.empty(); };
    if (timeout_ms < 0) {
      call.changed_.wait(lock, ready);
    } else if (!call.changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
      return HPU_RPC_READ_TIMEOUT;
    }
    if (call.incoming_.empty()) return HPU_RPC_READ_END;
    // In an allocation of the exact size, so that AddressSanitizer detects reads past the end.
    call.reading_ = std::string();
    call.reading_.assign(call.incoming_.front().begin(), call.incoming_.front().end());
    call.reading_.shrink_to_fit();
    call.incoming_.pop_front();
    ++call.read_;
    *data = call.reading_.data();
    *size = call.reading_.size();
    return HPU_RPC_READ_MESSAGE;
  }

  static int32_t Write(hpu_rpc_server_call* rpc_call, const void* data, size_t size) {
    FakeCall& call = *Cast(rpc_call);
    std::lock_guard<std::mutex> lock(call.mutex_);
    call.answers_.emplace_back(static_cast<const char*>(data), size);
    call.changed_.notify_all();
    return 1;
  }

  static void Cancel(hpu_rpc_server_call* rpc_call) {
    FakeCall& call = *Cast(rpc_call);
    std::lock_guard<std::mutex> lock(call.mutex_);
    call.at_end_ = true;
    call.incoming_.clear();
    call.changed_.notify_all();
  }

  static void Finish(hpu_rpc_server_call* rpc_call, int32_t code, const char* message, size_t size) {
    FakeCall& call = *Cast(rpc_call);
    std::lock_guard<std::mutex> lock(call.mutex_);
    call.code_ = code;
    call.error_.assign(message, size);
    call.changed_.notify_all();
  }
};

const hpu_rpc_api* FakeRpcApi() {
  static const hpu_rpc_api* api = [] {
    auto* made = new hpu_rpc_api{};
    made->version = HPU_RPC_VERSION;
    made->is_loopback = [](const char*) -> int32_t { return 1; };
    made->authorization = [](hpu_rpc_server_call*) { return ""; };
    made->read = &FakeRpc::Read;
    made->server_write = &FakeRpc::Write;
    made->server_write_joinable = &FakeRpc::Write;
    made->server_wait_writable = [](hpu_rpc_server_call*, size_t) -> int32_t { return 1; };
    made->server_cancel = &FakeRpc::Cancel;
    made->finish = &FakeRpc::Finish;
    return made;
  }();
  return api;
}

void Serve(hpu_rpc_serve_call serve_call, void* context, FakeCall* call, const std::string& method) {
  const std::string path = "/hpu.device.v1.DeviceService/" + method;
  serve_call(context, reinterpret_cast<hpu_rpc_server_call*>(call), path.c_str());
}

void FakeCall::Send(std::string message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!at_end_) incoming_.push_back(std::move(message));
  changed_.notify_all();
}

void FakeCall::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  at_end_ = true;
  changed_.notify_all();
}

std::optional<std::string> FakeCall::WaitForAnswer() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return code_.has_value() || !answers_.empty(); });
  if (answers_.empty()) return std::nullopt;
  return answers_.front();
}

std::deque<std::string> FakeCall::answers() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return answers_;
}

size_t FakeCall::read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return read_;
}

bool FakeCall::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return code_.has_value();
}

int32_t FakeCall::code() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return code_.value_or(-1);
}

std::string FakeCall::error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace hpu::fuzz
