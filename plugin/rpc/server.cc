#include "plugin/rpc/server.h"

#include <fcntl.h>
#include <grpcpp/server_posix.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "plugin/rpc/credentials.h"

namespace hpu::rpc {

ServerCall::ServerCall(Server* server)
    : server_(server), writes_([this](const grpc::ByteBuffer& message) {
        Begin();
        stream_.Write(message, &written_);
      }) {
  context_.AsyncNotifyWhenDone(&gone_);
  server_->service_.RequestCall(&context_, &stream_, server_->queue_.get(), server_->queue_.get(), &accepted_);
}

hpu_rpc_read_result ServerCall::Read(int timeout_ms, const void** data, size_t* size) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ready = [this] { return at_end_ || !messages_.empty(); };
  if (timeout_ms < 0) {
    changed_.wait(lock, ready);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    return HPU_RPC_READ_TIMEOUT;
  }
  if (messages_.empty()) return HPU_RPC_READ_END;
  waiting_bytes_ -= messages_.front().Length();
  reading_.emplace(messages_.front());  // holds references to the bytes
  messages_.pop_front();
  ReceiveNext();
  *data = reading_->data();
  *size = reading_->size();
  return HPU_RPC_READ_MESSAGE;
}

void ServerCall::Accepted(bool ok) {
  if (!ok) {  // the server stops, so gone_ will not complete
    delete this;
    return;
  }
  server_->CallBegins();
  new ServerCall(server_);
  const auto authorization = context_.client_metadata().find(kAuthorization);
  if (authorization != context_.client_metadata().end()) {
    authorization_.assign(authorization->second.data(), authorization->second.size());
  }
  writes_.Open(nullptr);
  std::lock_guard<std::mutex> lock(mutex_);
  ++running_;  // counts the operation of gone_
  ReceiveNext();
}

void ServerCall::StartThread() {
  if (started_) return;
  started_ = true;
  ++running_;  // counts the thread, or finished_ if no thread starts
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error& error) {
    writes_.End();
    stream_.Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                std::string("the device server cannot create a thread for the call: ") + error.what() +
                                    "; raise ulimit -u on the server"),
                   &finished_);
  }
}

void ServerCall::Run() {
  pthread_setname_np(pthread_self(), "hpu_rpc_call");
  server_->serve_call_(server_->context_, reinterpret_cast<hpu_rpc_server_call*>(this), context_.method().c_str());
  writes_.End();
  writes_.WaitUntilAtMost(0);
  Begin();
  stream_.Finish(status_, &finished_);
  End();
}

void ServerCall::Received(bool ok) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    receiving_ = false;
    if (ok) {
      waiting_bytes_ += incoming_.Length();
      messages_.push_back(std::move(incoming_));
      incoming_.Clear();
      ReceiveNext();
    } else {
      at_end_ = true;
    }
    StartThread();
    changed_.notify_all();
  }
  End();
}

void ServerCall::ReceiveNext() {
  if (receiving_ || at_end_ || messages_.size() >= kMaxWaiting || waiting_bytes_ >= kMaxWaitingBytes) return;
  receiving_ = true;
  ++running_;
  stream_.Read(&incoming_, &received_);
}

void ServerCall::Written(bool ok) {
  writes_.Sent(ok);
  End();
}

void ServerCall::Finished(bool) { End(); }

void ServerCall::Gone(bool) {
  writes_.Close();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (context_.IsCancelled()) {
      at_end_ = true;
      messages_.clear();
      waiting_bytes_ = 0;
    }
    changed_.notify_all();
  }
  End();
}

void ServerCall::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++running_;
}

void ServerCall::End() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ > 0) return;
  }
  Server* const server = server_;
  delete this;
  server->CallEnds();
}

std::unique_ptr<Server> Server::Start(const hpu_rpc_server_options& options, grpc::Status* status) {
  std::unique_ptr<Server> server(new Server(options.serve_call, options.context));
  server->log_.emplace(options.log, options.context);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 256);
  builder.SetMaxReceiveMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  builder.SetMaxSendMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  builder.RegisterAsyncGenericService(&server->service_);
  server->queue_ = builder.AddCompletionQueue();
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    *status = grpc::Status(grpc::StatusCode::UNAVAILABLE,
                           "gRPC cannot start a server; see gRPC's error messages in the server's log");
    return nullptr;
  }
  new ServerCall(server.get());
  server->thread_ = std::thread([queue = server->queue_.get()] { RunCompletions(queue); });
  pthread_setname_np(server->thread_.native_handle(), "hpu_rpc_server");
  return server;
}

void Server::ServeConnection(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);  // gRPC requires non-blocking sockets
  grpc::AddInsecureChannelFromFd(server_.get(), fd);
}

void Server::Drain(int timeout_ms) {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms));
}

Server::~Server() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  {
    std::unique_lock<std::mutex> lock(mutex_);
    calls_changed_.wait(lock, [this] { return calls_ == 0; });
  }
  queue_->Shutdown();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    RunCompletions(queue_.get());
  }
}

void Server::CallBegins() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
}

void Server::CallEnds() {
  std::lock_guard<std::mutex> lock(mutex_);
  --calls_;
  calls_changed_.notify_all();
}

}  // namespace hpu::rpc
