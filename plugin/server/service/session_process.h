// Session process: process of a device server for one client connection.
#ifndef HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_
#define HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_

#include "hpu/serve/v1/control.pb.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::serve {

// Serves the client at the other end of `connection`, with the front process at the other end of `control`. The process
// ends when the session is over. If the client or the front process is gone, the process ends immediately, even during
// a computation. The process must be single-threaded and just forked.
[[noreturn]] void RunSessionProcess(const hpu::serve::v1::Options& options, files::FileDescriptor connection,
                                    files::FileDescriptor control);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_
