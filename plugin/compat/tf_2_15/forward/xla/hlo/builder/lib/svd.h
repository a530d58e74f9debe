#include "xla/client/lib/svd.h"
