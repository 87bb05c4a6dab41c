/* Replaces libnvidia-ml.so.1 in tests. Variables STUB_NVML_… of the environment set its answers,
 * each as a number or as the path of a file with one; an unset variable means "not supported" (3).
 * */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const char* name, unsigned long long* out) {
  const char* text = getenv(name);
  if (!text) return 3;
  if (*text != '/') {
    *out = strtoull(text, NULL, 10);
    return 0;
  }
  FILE* file = fopen(text, "r");
  if (!file) return 999;
  const int read = fscanf(file, "%llu", out);
  fclose(file);
  return read == 1 ? 0 : 999;
}

static int small(const char* name, unsigned* out) {
  unsigned long long value = 0;
  const int failed = number(name, &value);
  *out = (unsigned)value;
  return failed;
}

int nvmlInit_v2(void) {
  unsigned code = 0;
  return small("STUB_NVML_INIT", &code) ? 0 : (int)code;
}
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Unknown Error"; }
int nvmlDeviceGetCount_v2(unsigned* count) { return small("STUB_NVML_COUNT", count); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char devices[8];
  if (index >= sizeof devices) return 2;
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  (void)device;
  snprintf(name, size, "Stub GPU");
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* mj) {
  (void)device;
  return number("STUB_NVML_ENERGY", mj);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
  (void)device;
  return small("STUB_NVML_POWER", mw);
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* both) {
  (void)device;
  both[1] = 0;
  return small("STUB_NVML_UTILISATION", &both[0]);
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* info) {
  (void)device;
  info[0] = info[1] = 0;
  return number("STUB_NVML_MEMORY", &info[2]);
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  (void)device;
  return sensor == 0 ? small("STUB_NVML_TEMPERATURE", degrees) : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  (void)device;
  return number("STUB_NVML_REASONS", bits);
}
