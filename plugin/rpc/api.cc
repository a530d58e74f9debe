// Function table of libhpu_remote.so (rpc.h).
#include <memory>
#include <string>

#include "plugin/rpc/client.h"
#include "plugin/rpc/rpc.h"
#include "plugin/rpc/server.h"
#include "plugin/rpc/socket.h"

namespace hpu::rpc {
namespace {

Channel* Cast(hpu_rpc_channel* channel) { return reinterpret_cast<Channel*>(channel); }
Call* Cast(hpu_rpc_call* call) { return reinterpret_cast<Call*>(call); }
Server* Cast(hpu_rpc_server* server) { return reinterpret_cast<Server*>(server); }
ServerCall* Cast(hpu_rpc_server_call* call) { return reinterpret_cast<ServerCall*>(call); }

void Report(const grpc::Status& status, hpu_rpc_report report, void* context) {
  const std::string message = status.error_message();
  report(context, status.error_code(), message.data(), message.size());
}

int32_t IsLoopbackAddress(const char* address) { return IsLoopback(address); }

hpu_rpc_channel* Connect(const hpu_rpc_client_options* options, hpu_rpc_report report, void* context) {
  grpc::Status status;
  std::unique_ptr<Channel> channel = Channel::Connect(*options, &status);
  if (channel == nullptr) Report(status, report, context);
  return reinterpret_cast<hpu_rpc_channel*>(channel.release());
}

void Disconnect(hpu_rpc_channel* channel) { Cast(channel)->Disconnect(); }
void Close(hpu_rpc_channel* channel) { delete Cast(channel); }

hpu_rpc_call* Open(hpu_rpc_channel* channel, const char* method, const hpu_rpc_handler* handler) {
  return reinterpret_cast<hpu_rpc_call*>(new Call(Cast(channel), method, *handler));
}

int32_t Write(hpu_rpc_call* call, const void* data, size_t size) { return Cast(call)->Write(data, size); }
int32_t WriteJoinable(hpu_rpc_call* call, const void* data, size_t size) {
  return Cast(call)->WriteJoinable(data, size);
}
int32_t WaitWritable(hpu_rpc_call* call, size_t bytes) { return Cast(call)->WaitWritable(bytes); }
void WritesDone(hpu_rpc_call* call) { Cast(call)->WritesDone(); }
void Cancel(hpu_rpc_call* call) { Cast(call)->Cancel(); }
void FreeCall(hpu_rpc_call* call) { delete Cast(call); }

hpu_rpc_server* Serve(const hpu_rpc_server_options* options, hpu_rpc_report report, void* context) {
  grpc::Status status;
  std::unique_ptr<Server> server = Server::Start(*options, &status);
  if (server == nullptr) Report(status, report, context);
  return reinterpret_cast<hpu_rpc_server*>(server.release());
}

void ServeConnection(hpu_rpc_server* server, int32_t fd) { Cast(server)->ServeConnection(fd); }
void Drain(hpu_rpc_server* server, int32_t timeout_ms) { Cast(server)->Drain(timeout_ms); }
void Stop(hpu_rpc_server* server) { delete Cast(server); }

const char* Authorization(hpu_rpc_server_call* call) { return Cast(call)->authorization().c_str(); }
hpu_rpc_read_result Read(hpu_rpc_server_call* call, int32_t timeout_ms, const void** data, size_t* size) {
  return Cast(call)->Read(timeout_ms, data, size);
}
int32_t ServerWrite(hpu_rpc_server_call* call, const void* data, size_t size) { return Cast(call)->Write(data, size); }
int32_t ServerWriteJoinable(hpu_rpc_server_call* call, const void* data, size_t size) {
  return Cast(call)->WriteJoinable(data, size);
}
int32_t ServerWaitWritable(hpu_rpc_server_call* call, size_t bytes) { return Cast(call)->WaitWritable(bytes); }
void ServerCancel(hpu_rpc_server_call* call) { Cast(call)->Cancel(); }
void Finish(hpu_rpc_server_call* call, int32_t code, const char* message, size_t size) {
  Cast(call)->SetStatus(grpc::Status(static_cast<grpc::StatusCode>(code), std::string(message, size)));
}

constexpr hpu_rpc_api kApi = {
    HPU_RPC_VERSION,
    IsLoopbackAddress,
    Connect,
    Disconnect,
    Close,
    Open,
    Write,
    WriteJoinable,
    WaitWritable,
    WritesDone,
    Cancel,
    FreeCall,
    Serve,
    ServeConnection,
    Drain,
    Stop,
    Authorization,
    Read,
    ServerWrite,
    ServerWriteJoinable,
    ServerWaitWritable,
    ServerCancel,
    Finish,
};

}  // namespace
}  // namespace hpu::rpc

extern "C" const hpu_rpc_api* hpu_rpc_get_api(uint32_t version) {
  return version == HPU_RPC_VERSION ? &hpu::rpc::kApi : nullptr;
}
