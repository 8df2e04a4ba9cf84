/* What a plugin shows to Volvox: one C function, volvox_plugin, and what it returns. C, so that
 * any plugin can be asked what it was built for before anything else of it is touched.
 * Called once, by the thread that loads it; the plugin owns what it returns, for the life of the process. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Changes whenever a plugin that was built before can no longer be used. */
#define VOLVOX_PLUGIN_ABI_VERSION 8u

#ifdef __cplusplus
extern "C" {
#endif

struct volvox_plugin_info {
  uint32_t abi_version;    /* VOLVOX_PLUGIN_ABI_VERSION. This member and the next three never move */
  uint32_t size;           /* of this struct */
  const char* build;       /* compiler, standard library and layout: must be the same as ours */
  const char* name;        /* by which a plugin of another version is refused */
  const char* description; /* one line */
  /* Fills the registries that `registrations` (a volvox::plugin::Registrations) refers to. Never
   * throws: 0, or another number and a text in `error`. */
  int (*add_all)(void* registrations, char* error, size_t error_size);
};

typedef const struct volvox_plugin_info* (*volvox_plugin_function)(void);

#ifdef __cplusplus
}
#endif
