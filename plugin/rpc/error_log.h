// ErrorLog: redirection of gRPC's error messages.
#ifndef HPU_PLUGIN_RPC_ERROR_LOG_H_
#define HPU_PLUGIN_RPC_ERROR_LOG_H_

#include "plugin/rpc/rpc.h"

namespace hpu::rpc {

// Passes gRPC's error messages to `report` during the object's lifetime. Only one object may exist at a time. Other
// messages, and all messages without an object, go to stderr.
class ErrorLog {
 public:
  ErrorLog(hpu_rpc_report report, void* context);
  ~ErrorLog();
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_ERROR_LOG_H_
