// Fake libcuda.so.1: cc -DVERSION=13020, and -DERROR=34 to simulate the stub library.
#ifndef ERROR
#define ERROR 0
#endif

int cuDriverGetVersion(int* version) {
  *version = VERSION;
  return ERROR;
}
