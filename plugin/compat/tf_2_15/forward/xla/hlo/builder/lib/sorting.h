#include "xla/client/lib/sorting.h"
