#include "plugin/rpc/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <map>
#include <utility>

#include "plugin/rpc/credentials.h"
#include "plugin/rpc/message.h"
#include "plugin/rpc/socket.h"

namespace hpu::rpc {

namespace {

using Deadline = std::chrono::system_clock::time_point;

// Returns why the connection failed. Starts a call, because gRPC reports the reason only in a call's status.
grpc::Status FailureOf(const std::shared_ptr<grpc::Channel>& channel, Deadline deadline) {
  grpc::ClientContext context;
  context.set_deadline(deadline);
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel);
  grpc::ByteBuffer answer;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, "/", grpc::ByteBuffer(), &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

// gRPC creates encrypted connections itself and does not expose their sockets. Sets `fd` to the new socket of this
// process whose peer has the server's port. `fd` stays -1 if the connection uses a proxy.
std::shared_ptr<grpc::Channel> ConnectEncrypted(const hpu_rpc_client_options& options,
                                                const grpc::ChannelArguments& arguments, int* fd,
                                                grpc::Status* status) {
  const std::map<ino_t, int> before = SocketsTo(options.address);
  const Deadline deadline = std::chrono::system_clock::now() + std::chrono::milliseconds(options.timeout_ms);
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(options.address, ChannelCredentials(*options.tls), arguments);
  for (grpc_connectivity_state state = channel->GetState(true); state != GRPC_CHANNEL_READY;
       state = channel->GetState(true)) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) {
      *status = FailureOf(channel, deadline);
      return nullptr;
    }
    if (!channel->WaitForStateChange(state, deadline)) {
      *status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the TLS handshake did not finish within " +
                                                                std::to_string(options.timeout_ms) +
                                                                " ms; check the network and that the server uses TLS");
      return nullptr;
    }
  }
  for (const auto& [inode, socket] : SocketsTo(options.address)) {
    if (before.count(inode) == 0) *fd = socket;
  }
  return channel;
}

}  // namespace

std::unique_ptr<Channel> Channel::Connect(const hpu_rpc_client_options& options, grpc::Status* status) {
  if (const std::string problem = AddressProblem(options.address); !problem.empty()) {
    *status = grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, problem);
    return nullptr;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  arguments.SetMaxSendMessageSize(HPU_RPC_MAX_MESSAGE_BYTES);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // not shared with other channels
  std::shared_ptr<grpc::Channel> channel;
  int fd = -1;
  if (options.tls != nullptr) {
    channel = ConnectEncrypted(options, arguments, &fd, status);
    if (channel == nullptr) return nullptr;
  } else {
    std::string error;
    fd = ConnectSocket(options.address, options.timeout_ms, &error);
    if (fd < 0) {
      *status = grpc::Status(grpc::StatusCode::UNAVAILABLE, error);
      return nullptr;
    }
    channel = grpc::CreateCustomInsecureChannelFromFd(options.address, fd, arguments);
  }
  if (fd >= 0) RegisterSocket(fd);
  return std::unique_ptr<Channel>(new Channel(channel, fd, TextOf(options.authorization)));
}

Channel::Channel(const std::shared_ptr<grpc::Channel>& channel, int fd, std::string authorization)
    : fd_(fd), authorization_(std::move(authorization)), stub_(channel) {
  thread_ = std::thread([this] { RunCompletions(&queue_); });
  pthread_setname_np(thread_.native_handle(), "hpu_rpc");
}

Channel::~Channel() {
  queue_.Shutdown();
  thread_.join();
  if (fd_ >= 0) UnregisterSocket(fd_);
}

void Channel::Disconnect() {
  std::lock_guard<std::mutex> lock(mutex_);
  disconnected_ = true;
  for (Call* call : calls_) call->Break();
}

bool Channel::Add(Call* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.insert(call);
  return !disconnected_;
}

void Channel::Remove(Call* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(call);
}

void Channel::Authorize(grpc::ClientContext* context) const {
  if (!authorization_.empty()) context->AddMetadata(kAuthorization, authorization_);
}

Call::Call(Channel* channel, const std::string& method, const hpu_rpc_handler& handler)
    : channel_(channel), handler_(handler), writes_([this](const grpc::ByteBuffer& message) {
        Begin();
        stream_->Write(message, &written_);
      }) {
  channel->Authorize(&context_);
  stream_ = channel->stub().PrepareCall(&context_, method, &channel->queue());
  Begin();
  stream_->StartCall(&started_);
  if (!channel->Add(this)) Break();
}

Call::~Call() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    done_changed_.wait(lock, [this] { return done_; });
  }
  channel_->Remove(this);
}

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
  if (broken_) status_ = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the client closed the connection");
  const std::string message = status_.error_message();
  handler_.on_done(handler_.context, status_.error_code(), message.data(), message.size());
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = true;
  done_changed_.notify_all();
}

}  // namespace hpu::rpc
