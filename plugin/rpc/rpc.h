// C interface of libhpu_remote.so. The library contains gRPC, because gRPC and TensorFlow use different versions of
// absl and protobuf.
//
// The library does not interpret messages. Every call is a bidirectional stream, even with one message in each
// direction. The client and the server of proto/hpu/device/v1 use the library (plugin/backends/remote and
// plugin/server).
//
// Status codes are gRPC's codes, which equal absl's codes. Messages are copied. Functions are thread safe unless stated
// otherwise, and never throw. A forked child must not call any function.
#ifndef HPU_PLUGIN_RPC_RPC_H_
#define HPU_PLUGIN_RPC_RPC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPU_RPC_VERSION 3u
// Maximum size of a message. The receiver refuses a larger message before allocating memory. The call then ends with
// RESOURCE_EXHAUSTED.
#define HPU_RPC_MAX_MESSAGE_BYTES (4u << 20)

typedef struct hpu_rpc_channel hpu_rpc_channel;
typedef struct hpu_rpc_call hpu_rpc_call;  // a call on the client's side
typedef struct hpu_rpc_server hpu_rpc_server;
typedef struct hpu_rpc_server_call hpu_rpc_server_call;  // a call on the server's side

// Receives a status or a log message. `message` points to `size` bytes that are valid during the call only.
typedef void (*hpu_rpc_report)(void* context, int32_t code, const char* message, size_t size);

// The functions run on the channel's only thread. Therefore the functions must not block, open calls or free calls.
typedef struct hpu_rpc_handler {
  void* context;
  void (*on_message)(void* context, const void* data, size_t size);
  // Called once, after the last message. Code 0: the server ended the call successfully.
  hpu_rpc_report on_done;
} hpu_rpc_handler;

// Runs on the call's own thread and may block. The thread starts with the call's first message, or with the end of a
// call without messages. When the function returns, the call ends with the status that finish() set.
typedef void (*hpu_rpc_serve_call)(void* context, hpu_rpc_server_call* call, const char* method);

// PEM texts; null: none.
typedef struct hpu_rpc_tls {
  const char* root_certificates;  // to verify the server; null: the system's roots
  const char* certificate;        // client certificate, followed by intermediate certificates
  const char* private_key;
} hpu_rpc_tls;

typedef struct hpu_rpc_client_options {
  const char* address;        // "unix:/path" or "host:port"
  int32_t timeout_ms;         // time limit for connecting
  const hpu_rpc_tls* tls;     // null: not encrypted
  const char* authorization;  // sent with each call; null: none
} hpu_rpc_client_options;

typedef struct hpu_rpc_server_options {
  hpu_rpc_serve_call serve_call;
  // Receives gRPC's error messages; `code` is always 0.
  hpu_rpc_report log;
  void* context;  // for serve_call and log
} hpu_rpc_server_options;

typedef enum hpu_rpc_read_result {
  HPU_RPC_READ_MESSAGE = 0,
  HPU_RPC_READ_END = 1,  // the client has sent the last message, or has disconnected
  HPU_RPC_READ_TIMEOUT = 2,
} hpu_rpc_read_result;

typedef struct hpu_rpc_api {
  uint32_t version;  // HPU_RPC_VERSION

  // Whether "host:port" is this machine's loopback interface, which other machines cannot reach or intercept.
  int32_t (*is_loopback)(const char* address);

  // --- client ---

  // Returns null after an error and reports the error. INVALID_ARGUMENT: not an address. UNAVAILABLE: no server
  // responds, or client and server do not trust each other. A channel is one connection. When the connection breaks,
  // all calls of the channel end with UNAVAILABLE, and the channel becomes unusable.
  hpu_rpc_channel* (*connect)(const hpu_rpc_client_options* options, hpu_rpc_report report, void* context);
  // Abandons an unresponsive server. All current and later calls end with UNAVAILABLE.
  void (*disconnect)(hpu_rpc_channel* channel);
  // All calls must have been freed.
  void (*close)(hpu_rpc_channel* channel);
  hpu_rpc_call* (*open)(hpu_rpc_channel* channel, const char* method, const hpu_rpc_handler* handler);
  // Queues a message and returns; 0 if the call has ended.
  int32_t (*write)(hpu_rpc_call* call, const void* data, size_t size);
  // Like write, but the message may be concatenated with other queued joinable messages. Protobuf parses the result as
  // one message: repeated fields are appended, and other fields have their last value.
  int32_t (*write_joinable)(hpu_rpc_call* call, const void* data, size_t size);
  // Waits until at most `bytes` bytes of queued messages are unsent; 0 if the call has ended.
  int32_t (*wait_writable)(hpu_rpc_call* call, size_t bytes);
  void (*writes_done)(hpu_rpc_call* call);
  void (*cancel)(hpu_rpc_call* call);
  // Waits until on_done has returned. Call cancel() first, unless the server has ended the call.
  void (*free_call)(hpu_rpc_call* call);

  // --- server ---

  // Creates a server without connections. Null after an error.
  hpu_rpc_server* (*serve)(const hpu_rpc_server_options* options, hpu_rpc_report report, void* context);
  // Serves the client at the other end of the connected socket `fd`. The server takes ownership of `fd`.
  void (*serve_connection)(hpu_rpc_server* server, int32_t fd);
  // Accepts no new calls and sends clients a GOAWAY. Waits for running calls and cancels them after `timeout_ms`.
  void (*drain)(hpu_rpc_server* server, int32_t timeout_ms);
  // Cancels all calls, waits until their threads have returned, and frees the server.
  void (*stop)(hpu_rpc_server* server);
  // The client's authorization; empty: none. Valid as long as the call.
  const char* (*authorization)(hpu_rpc_server_call* call);
  // Reads the next message, which is valid until the next read. `timeout_ms` < 0: no timeout. Only on the call's own
  // thread.
  hpu_rpc_read_result (*read)(hpu_rpc_server_call* call, int32_t timeout_ms, const void** data, size_t* size);
  int32_t (*server_write)(hpu_rpc_server_call* call, const void* data, size_t size);
  int32_t (*server_write_joinable)(hpu_rpc_server_call* call, const void* data, size_t size);
  int32_t (*server_wait_writable)(hpu_rpc_server_call* call, size_t bytes);
  // Ends the call's reads and waits; the client receives CANCELLED.
  void (*server_cancel)(hpu_rpc_server_call* call);
  // Sets the status for the client's on_done. Only on the call's own thread.
  void (*finish)(hpu_rpc_server_call* call, int32_t code, const char* message, size_t size);
} hpu_rpc_api;

// Null if the library's version is not `version`.
__attribute__((visibility("default"))) const hpu_rpc_api* hpu_rpc_get_api(uint32_t version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HPU_PLUGIN_RPC_RPC_H_
