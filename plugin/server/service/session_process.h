// The session process: serves one client's connection and ends with it.
#ifndef HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_
#define HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_

#include "hpu/serve/v1/control.pb.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::serve {

// Serves the client at the other end of `connection`, with the front process at the other end of `control`. The process
// ends at once when either of them is gone, even during a computation, or when the session is over. It must have one
// thread and must just have been forked.
[[noreturn]] void RunSessionProcess(const hpu::serve::v1::Options& options, files::FileDescriptor connection,
                                    files::FileDescriptor control);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_SESSION_PROCESS_H_
