#include "xla/pjrt/compile_options.pb.h"
