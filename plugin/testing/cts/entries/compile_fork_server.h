// Fork server for tests of compile workers.
#ifndef HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_
#define HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_

#include "plugin/server/fork_server.h"

namespace hpu::cts {

// Client of a fork server of compile workers for the null backend; null if its start failed. The server starts first in
// main(), while the process has one thread.
serve::ForkClient* CompileForkServer();

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_
