#include "plugin/rpc/client.h"

#include <grpcpp/create_channel_posix.h>
#include <grpcpp/support/channel_arguments.h>

#include "plugin/rpc/message.h"
#include "plugin/rpc/socket.h"

namespace hpu::rpc {

Channel::Channel(const std::string& address, int fd) : fd_(fd) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  arguments.SetMaxSendMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  RememberSocket(fd);
  stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomInsecureChannelFromFd(address, fd, arguments));
  thread_ = std::thread([this] { RunCompletions(&queue_); });
  pthread_setname_np(thread_.native_handle(), "hpu_rpc");
}

Channel::~Channel() {
  queue_.Shutdown();
  thread_.join();
  ForgetSocket(fd_);
  stub_.reset();
}

void Channel::Disconnect() { ShutDownSocket(fd_); }

Call::Call(Channel* channel, const std::string& method, const hpu_rpc_handler& handler)
    : handler_(handler), writes_([this](const grpc::ByteBuffer& message) {
        Begin();
        stream_->Write(message, &written_);
      }) {
  stream_ = channel->stub().PrepareCall(&context_, method, &channel->queue());
  Begin();
  stream_->StartCall(&started_);
}

Call::~Call() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_changed_.wait(lock, [this] { return done_; });
}

bool Call::Write(const void* data, size_t size) { return writes_.Push(MakeMessage(data, size)); }

void Call::Started(bool ok) {
  Begin();
  if (ok) {
    stream_->Read(&received_, &read_);
    writes_.Open([this] {
      Begin();
      stream_->WritesDone(&ended_);
    });
  } else {
    writes_.Close();
    stream_->Finish(&status_, &finished_);
  }
  End();
}

void Call::Read(bool ok) {
  if (ok) {
    const MessageBytes bytes(received_);
    handler_.on_message(handler_.context, bytes.data(), bytes.size());
  }
  Begin();
  if (ok) {
    stream_->Read(&received_, &read_);
  } else {
    writes_.Close();
    stream_->Finish(&status_, &finished_);
  }
  End();
}

void Call::Written(bool ok) {
  writes_.Sent(ok);
  End();
}

void Call::Ended(bool) { End(); }

void Call::Finished(bool) { End(); }

void Call::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++running_;
}

void Call::End() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ > 0) return;
  }
  const std::string message = status_.error_message();
  handler_.on_done(handler_.context, status_.error_code(), message.data(), message.size());
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  done_changed_.notify_all();
}

}  // namespace hpu::rpc
