// Double of libhlml.so, by Gaudi's documentation "HLML API Reference": the functions that `hpu smi` calls through
// pyhlml. Tests describe the cards with the functions hlml_double_*.
//
// -DOLD: the structures of HLML 1.18, which are shorter than those of 1.24. -DWITHOUT_MODULE_ID: no module ids.
#include <stdio.h>
#include <string.h>

#define MAX_CARDS 16
#define MAX_FIGURES 64
#define MAX_VALUES 3
#define TEXT 64

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, ALREADY = 5, NOT_FOUND = 6, LOST = 15 };

struct figure {
  char name[TEXT];
  char text[TEXT];
  unsigned long long values[MAX_VALUES];
};

struct card {
  int is_present;
  int is_lost;
  int count;
  struct figure figures[MAX_FIGURES];
};

struct pci_info {
  unsigned bus;
#ifdef OLD
  char bus_id[15];
#else
  char bus_id[19];
#endif
  unsigned device, domain, pci_device_id;
  char caps[4][10];
  unsigned pci_rev, pci_subsys_id;
};

struct utilization {
  unsigned aip;
#ifndef OLD
  unsigned memory;
#endif
};

struct memory {
  unsigned long long free, total, used;
};

struct violation_time {
  unsigned long long reference_time, violation_time;
};

static struct card cards[MAX_CARDS];
static char driver_version[TEXT];
static int is_initialized;
static int init_error;

void hlml_double_reset(const char* driver, int error) {
  memset(cards, 0, sizeof(cards));
  snprintf(driver_version, sizeof(driver_version), "%s", driver);
  is_initialized = 0;
  init_error = error;
}

void hlml_double_add(int index, int is_lost) {
  cards[index].is_present = 1;
  cards[index].is_lost = is_lost;
}

void hlml_double_set(int index, const char* name, const char* text, const unsigned long long* values, int count) {
  struct figure* figure = &cards[index].figures[cards[index].count++];
  snprintf(figure->name, sizeof(figure->name), "%s", name);
  snprintf(figure->text, sizeof(figure->text), "%s", text);
  memcpy(figure->values, values, count * sizeof(*values));
}

int hlml_double_is_initialized(void) { return is_initialized; }

static int find(void* device, const char* name, struct figure** found) {
  struct card* card = device;
  if (!is_initialized) return UNINITIALIZED;
  if (card < cards || card >= cards + MAX_CARDS || !card->is_present) return INVALID_ARGUMENT;
  if (card->is_lost) return LOST;
  for (int i = 0; i < card->count; ++i) {
    *found = &card->figures[i];
    if (strcmp((*found)->name, name) == 0) return SUCCESS;
  }
  return NOT_SUPPORTED;
}

static int get_text(void* device, const char* name, char* text, unsigned length) {
  struct figure* figure;
  int status = find(device, name, &figure);
  if (status == SUCCESS) snprintf(text, length, "%s", figure->text);
  return status;
}

static int get_number(void* device, const char* name, unsigned* number) {
  struct figure* figure;
  int status = find(device, name, &figure);
  if (status == SUCCESS) *number = (unsigned)figure->values[0];
  return status;
}

static int get_number_of(void* device, const char* name, int argument, unsigned* number) {
  char whole[TEXT];
  snprintf(whole, sizeof(whole), "%s/%d", name, argument);
  return get_number(device, whole, number);
}

int hlml_init(void) {
  if (init_error) return init_error;
  if (is_initialized) return ALREADY;
  is_initialized = 1;
  return SUCCESS;
}

int hlml_shutdown(void) {
  if (!is_initialized) return UNINITIALIZED;
  is_initialized = 0;
  return SUCCESS;
}

int hlml_get_driver_version(char* version, unsigned length) {
  snprintf(version, length, "%s", driver_version);
  return SUCCESS;
}

int hlml_device_get_count(unsigned* count) {
  if (!is_initialized) return UNINITIALIZED;
  *count = 0;
  for (int i = 0; i < MAX_CARDS; ++i) *count += cards[i].is_present;
  return SUCCESS;
}

int hlml_device_get_handle_by_index(unsigned index, void** device) {
  if (!is_initialized) return UNINITIALIZED;
  if (index >= MAX_CARDS) return INVALID_ARGUMENT;
  if (!cards[index].is_present) return NOT_FOUND;
  *device = &cards[index];
  return SUCCESS;
}

int hlml_device_get_name(void* device, char* text, unsigned length) { return get_text(device, "name", text, length); }
int hlml_device_get_uuid(void* device, char* text, unsigned length) { return get_text(device, "uuid", text, length); }
int hlml_device_get_serial(void* device, char* text, unsigned length) {
  return get_text(device, "serial", text, length);
}

int hlml_device_get_pci_info(void* device, struct pci_info* info) {
  // Sets every byte, so that a caller with a shorter structure notices.
  memset(info, 0xff, sizeof(*info));
  return get_text(device, "pci_info", info->bus_id, sizeof(info->bus_id));
}

int hlml_device_get_utilization_rates(void* device, struct utilization* rates) {
  memset(rates, 0xff, sizeof(*rates));
  return get_number(device, "utilization_rates", &rates->aip);
}

int hlml_device_get_memory_info(void* device, struct memory* memory) {
  struct figure* figure;
  int status = find(device, "memory_info", &figure);
  if (status == SUCCESS) *memory = (struct memory){figure->values[0], figure->values[1], figure->values[2]};
  return status;
}

int hlml_device_get_violation_status(void* device, int policy, struct violation_time* violation) {
  char name[TEXT];
  struct figure* figure;
  snprintf(name, sizeof(name), "violation_status/%d", policy);
  int status = find(device, name, &figure);
  if (status == SUCCESS) *violation = (struct violation_time){figure->values[0], figure->values[1]};
  return status;
}

int hlml_device_get_ecc_mode(void* device, unsigned* current, unsigned* pending) {
  struct figure* figure;
  int status = find(device, "ecc_mode", &figure);
  if (status == SUCCESS) {
    *current = (unsigned)figure->values[0];
    *pending = (unsigned)figure->values[1];
  }
  return status;
}

int hlml_device_get_total_ecc_errors(void* device, int error, int counter, unsigned long long* count) {
  char name[TEXT];
  struct figure* figure;
  snprintf(name, sizeof(name), "total_ecc_errors/%d/%d", error, counter);
  int status = find(device, name, &figure);
  if (status == SUCCESS) *count = figure->values[0];
  return status;
}

int hlml_device_get_memory_error_counter(void* device, int error, int counter, int location,
                                         unsigned long long* count) {
  char name[TEXT];
  struct figure* figure;
  snprintf(name, sizeof(name), "memory_error_counter/%d/%d/%d", error, counter, location);
  int status = find(device, name, &figure);
  if (status == SUCCESS) *count = figure->values[0];
  return status;
}

#ifndef WITHOUT_MODULE_ID
int hlml_device_get_module_id(void* device, unsigned* number) { return get_number(device, "module_id", number); }
#endif
int hlml_device_get_minor_number(void* device, unsigned* number) { return get_number(device, "minor_number", number); }
int hlml_device_get_power_usage(void* device, unsigned* number) { return get_number(device, "power_usage", number); }
int hlml_device_get_power_management_limit(void* device, unsigned* number) {
  return get_number(device, "power_management_limit", number);
}
int hlml_device_get_curr_pcie_link_generation(void* device, unsigned* number) {
  return get_number(device, "curr_pcie_link_generation", number);
}
int hlml_device_get_curr_pcie_link_width(void* device, unsigned* number) {
  return get_number(device, "curr_pcie_link_width", number);
}
int hlml_device_get_temperature(void* device, int sensor, unsigned* number) {
  return get_number_of(device, "temperature", sensor, number);
}
int hlml_device_get_clock_info(void* device, int clock, unsigned* number) {
  return get_number_of(device, "clock_info", clock, number);
}
int hlml_device_get_max_clock_info(void* device, int clock, unsigned* number) {
  return get_number_of(device, "max_clock_info", clock, number);
}
int hlml_device_get_clock_limit_info(void* device, int clock, unsigned* number) {
  return get_number_of(device, "clock_limit_info", clock, number);
}
