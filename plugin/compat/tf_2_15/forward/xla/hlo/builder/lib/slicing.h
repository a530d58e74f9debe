#include "xla/client/lib/slicing.h"
