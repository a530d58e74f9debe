#include "xla/client/lib/loops.h"
