// The C interface of libhpu_remote.so, gRPC in a library of its own: it and TensorFlow have different absl and
// protobuf.
//
// It moves messages and knows nothing of their contents: every call is a stream of messages in each direction, one that
// takes one message and gives one is such a stream too. Both sides of proto/hpu/device/v1 use it
// (plugin/backends/remote and plugin/server).
//
// Codes are those of gRPC, which are absl's. Messages are copied. Functions are thread safe unless said otherwise and
// none throws. A child after fork() must call none of them.
#ifndef HPU_PLUGIN_RPC_RPC_H_
#define HPU_PLUGIN_RPC_RPC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPU_RPC_VERSION 3u
// Larger messages than this are refused by the receiver, before it allocates them: the call ends with
// RESOURCE_EXHAUSTED.
#define HPU_RPC_MAX_MESSAGE_BYTES (4u << 20)

typedef struct hpu_rpc_channel hpu_rpc_channel;
typedef struct hpu_rpc_call hpu_rpc_call;  // a client's
typedef struct hpu_rpc_server hpu_rpc_server;
typedef struct hpu_rpc_server_call hpu_rpc_server_call;  // a server's

// Receives an error. `message` points to `size` bytes that are valid during the call only.
typedef void (*hpu_rpc_report)(void* context, int32_t code, const char* message, size_t size);

// Both run on the channel's one thread: they must not block, open or free calls.
typedef struct hpu_rpc_handler {
  void* context;
  void (*on_message)(void* context, const void* data, size_t size);
  // Once, after the last message: code 0 if the server ended the call well.
  hpu_rpc_report on_done;
} hpu_rpc_handler;

// Runs on a thread of the call's own, which may block and starts with the call's first message. The call ends when it
// returns, with what finish() was given.
typedef void (*hpu_rpc_serve_call)(void* context, hpu_rpc_server_call* call, const char* method);

// PEM texts; null: none.
typedef struct hpu_rpc_tls {
  const char* root_certificates;  // who vouches for the other side; null: for servers whom the system trusts, for
                                  // clients nobody need
  const char* certificate;        // of this side, with those between it and its root
  const char* private_key;
} hpu_rpc_tls;

typedef struct hpu_rpc_client_options {
  const char* address;        // "unix:/path" or "host:port"
  int32_t timeout_ms;         // to connect
  const hpu_rpc_tls* tls;     // null: not encrypted
  const char* authorization;  // goes with each call; null: nothing
} hpu_rpc_client_options;

typedef struct hpu_rpc_server_options {
  hpu_rpc_serve_call serve_call;
  // Gets gRPC's own error lines. The code means nothing.
  hpu_rpc_report log;
  void* context;  // of serve_call and log
} hpu_rpc_server_options;

typedef enum hpu_rpc_read_result {
  HPU_RPC_READ_MESSAGE = 0,
  HPU_RPC_READ_END = 1,  // the client has sent its last message, or is gone
  HPU_RPC_READ_TIMEOUT = 2,
} hpu_rpc_read_result;

typedef struct hpu_rpc_api {
  uint32_t version;  // HPU_RPC_VERSION

  // Whether "host:port" names this machine's loopback interface, and so nobody else can read along or connect.
  int32_t (*is_loopback)(const char* address);

  // --- client ---

  // Null after an error, which `report` gets: INVALID_ARGUMENT for what is no address, UNAVAILABLE if nobody answers,
  // or if one side does not trust the other. A channel is one connection: when that breaks, all its calls end with
  // UNAVAILABLE and it is of no further use.
  hpu_rpc_channel* (*connect)(const hpu_rpc_client_options* options, hpu_rpc_report report, void* context);
  // Breaks the connection, for a server that does not answer: all calls end with UNAVAILABLE.
  void (*disconnect)(hpu_rpc_channel* channel);
  // All calls must have been freed.
  void (*close)(hpu_rpc_channel* channel);
  hpu_rpc_call* (*open)(hpu_rpc_channel* channel, const char* method, const hpu_rpc_handler* handler);
  // Queues a message and returns; 0 if the call has ended.
  int32_t (*write)(hpu_rpc_call* call, const void* data, size_t size);
  // The same for a message that may be sent as one with others of its kind, end to end, while these wait to be sent:
  // protobuf then reads one message with the repeated fields of all, and the last value of each other one.
  int32_t (*write_joinable)(hpu_rpc_call* call, const void* data, size_t size);
  // Waits until at most `bytes` of queued messages have not been sent; 0 if the call has ended.
  int32_t (*wait_writable)(hpu_rpc_call* call, size_t bytes);
  void (*writes_done)(hpu_rpc_call* call);
  void (*cancel)(hpu_rpc_call* call);
  // Waits until on_done has returned. A call that the server has not ended is to be cancelled first.
  void (*free_call)(hpu_rpc_call* call);

  // --- server ---

  // A server without connections. Null after an error.
  hpu_rpc_server* (*serve)(const hpu_rpc_server_options* options, hpu_rpc_report report, void* context);
  // Serves the client at the other end of the connected socket `fd`, which the server owns from now on.
  void (*serve_connection)(hpu_rpc_server* server, int32_t fd);
  // Takes no new calls and tells clients so, who then connect anew; waits for the calls that run, which are cancelled
  // after `timeout_ms`.
  void (*drain)(hpu_rpc_server* server, int32_t timeout_ms);
  // Cancels all calls, waits until their threads have returned, and frees the server.
  void (*stop)(hpu_rpc_server* server);
  // What the client sent as authorization; empty: nothing. Valid as long as the call.
  const char* (*authorization)(hpu_rpc_server_call* call);
  // The next message, valid until the next read. `timeout_ms` < 0 waits without end. For the call's own thread.
  hpu_rpc_read_result (*read)(hpu_rpc_server_call* call, int32_t timeout_ms, const void** data, size_t* size);
  int32_t (*server_write)(hpu_rpc_server_call* call, const void* data, size_t size);
  int32_t (*server_write_joinable)(hpu_rpc_server_call* call, const void* data, size_t size);
  int32_t (*server_wait_writable)(hpu_rpc_server_call* call, size_t bytes);
  // Makes reads and waits of the call end; its client sees CANCELLED.
  void (*server_cancel)(hpu_rpc_server_call* call);
  // What the client's on_done gets. For the call's own thread.
  void (*finish)(hpu_rpc_server_call* call, int32_t code, const char* message, size_t size);
} hpu_rpc_api;

// Null if the library has another version than `version`.
__attribute__((visibility("default"))) const hpu_rpc_api* hpu_rpc_get_api(uint32_t version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HPU_PLUGIN_RPC_RPC_H_
