// Stands for NVIDIA's driver in gpu_test.cc: a real shared library, opened as the real ones are,
// that exports the functions of libnvidia-ml.so.1 and libcuda.so.1 that worker/machine/gpu.cc
// calls. It answers with made-up numbers; nothing but that test uses it.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

int started = 0;
unsigned long long energy_mj = 5000;
constexpr int kNotSupported = 3, kNotFound = 6;

int Put(char* to, unsigned size, const char* text) {
  if (std::strlen(text) + 1 > size) return 7;
  std::strcpy(to, text);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (std::getenv("STAND_IN_HAS_NO_DRIVER") != nullptr) return 9;
  ++started;
  return 0;
}
int nvmlShutdown() {
  --started;
  return 0;
}
int stand_in_started() { return started; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return kNotFound;
  *device = reinterpret_cast<void*>(static_cast<size_t>(index) + 1);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "GPU-1234") != 0) return kNotFound;
  *device = reinterpret_cast<void*>(size_t{2});
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  return Put(name, size, device == reinterpret_cast<void*>(size_t{1}) ? "Stand-in 9000" : "Stand-in 9001");
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  return Put(uuid, size, device == reinterpret_cast<void*>(size_t{1}) ? "GPU-0987" : "GPU-1234");
}
int nvmlSystemGetDriverVersion(char* version, unsigned size) { return Put(version, size, "580.1"); }
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : type == 2 ? 3201 : 0;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* degrees) {
  *degrees = 41;
  return sensor;
}
int nvmlDeviceGetPowerUsage(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  *mj = energy_mj;
  energy_mj += 1500;
  return 0;
}

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13010;
  return 0;
}
int cuDeviceGet(int* handle, int device) {
  *handle = device + 70;
  return device < 1 ? 0 : 101;
}
int cuDeviceGetName(char* name, int size, int) { return Put(name, static_cast<unsigned>(size), "Stand-in 9000"); }
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{150} * 1000 * 1000 * 1000;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 13: *value = 1980000; return 0;
    case 16: *value = 132; return 0;
    case 38: *value = 60 << 20; return 0;
    case 75: *value = 9; return 0;
    case 76: *value = 0; return 0;
  }
  return 1;
}

}  // extern "C"
