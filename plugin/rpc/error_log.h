// ErrorLog: what gRPC has to say of errors.
#ifndef HPU_PLUGIN_RPC_ERROR_LOG_H_
#define HPU_PLUGIN_RPC_ERROR_LOG_H_

#include "plugin/rpc/rpc.h"

namespace hpu::rpc {

// Goes to `report` as long as this lives; there is one at a time. Otherwise it goes to stderr.
class ErrorLog {
 public:
  ErrorLog(hpu_rpc_report report, void* context);
  ~ErrorLog();
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;
};

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_ERROR_LOG_H_
