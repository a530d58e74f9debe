// SIGINT (Ctrl-C) notices: a handler in front of the program's own SIGINT handler, and a descriptor to wait for
// signals.
#ifndef HPU_PLUGIN_BASE_INTERRUPTS_SIGINT_H_
#define HPU_PLUGIN_BASE_INTERRUPTS_SIGINT_H_

namespace hpu::interrupts {

// Returns a descriptor of this process that becomes readable (8 bytes, see eventfd(2)) after each SIGINT, or -1 if the
// system has no descriptor left. The first call enables WatchSigint and calls it. Thread safe; the descriptor is never
// closed.
int SigintDescriptor();

// Puts the plugin's handler in front of the program's current SIGINT handler, which still runs at each signal. Does
// nothing before SigintDescriptor, in a forked child, and if SIGINT is ignored or ends the process. Called again
// before each wait, because a later sigaction(2), for example by Python's signal.signal(), replaces the handler. Costs
// about a microsecond. Thread safe.
void WatchSigint();

}  // namespace hpu::interrupts

#endif  // HPU_PLUGIN_BASE_INTERRUPTS_SIGINT_H_
