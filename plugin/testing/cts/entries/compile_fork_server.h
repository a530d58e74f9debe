// Fork server for tests of compile workers.
#ifndef HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_
#define HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_

#include "plugin/server/fork_server.h"

namespace hpu::cts {

// Forks compile workers for modules of the null backend. Started first in main(), while the process has one thread.
serve::ForkClient* CompileForkServer();

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_ENTRIES_COMPILE_FORK_SERVER_H_
