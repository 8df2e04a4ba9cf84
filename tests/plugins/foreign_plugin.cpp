// Plugins of another version or compiler, and a library that is not a plugin, for plugins_test.py.
#include <volvox/plugin/abi.h>

#if PLUGIN_KIND == 1  // of a version to come
extern "C" const volvox_plugin_info* volvox_plugin() {
  static const volvox_plugin_info info = {
      VOLVOX_PLUGIN_ABI_VERSION + 1, sizeof(volvox_plugin_info), "", "future", "", nullptr};
  return &info;
}
#elif PLUGIN_KIND == 2  // of the version before
extern "C" const volvox_plugin_info* volvox_plugin() {
  static const volvox_plugin_info info = {
      VOLVOX_PLUGIN_ABI_VERSION - 1, sizeof(volvox_plugin_info), "", "old", "", nullptr};
  return &info;
}
#elif PLUGIN_KIND == 3  // of another compiler
extern "C" const volvox_plugin_info* volvox_plugin() {
  static const volvox_plugin_info info = {
      VOLVOX_PLUGIN_ABI_VERSION, sizeof(volvox_plugin_info), "gcc 4, libstdc++", "foreign", "", nullptr};
  return &info;
}
#else                   // no plugin at all
extern "C" int nothing_of_interest() { return 0; }
#endif
