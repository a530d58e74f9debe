#include "tsl/lib/hash/crc32c.h"
