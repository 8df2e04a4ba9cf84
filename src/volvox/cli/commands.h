// One function a subcommand; each returns the exit status.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/result.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording.h"
#include "volvox/sim/experiment.h"
#include "volvox/sim/run.h"
#include "volvox/view/render_engine.h"

namespace CLI {
class App;
}

namespace volvox::cli {

inline constexpr int done = 0, run_failed = 1, bad_input = 2;

// Where the viewer is served.
struct ViewerArguments {
  std::string host = "127.0.0.1";
  int port = 0;
  bool no_browser = false;
};

// How pictures and videos are drawn. No camera: the experiment's own.
struct ViewArguments {
  std::string renderer = "picture", camera, size = "1280x720", docks = "state";
  bool rays = false, messages = false;
};

struct RunArguments {
  std::string experiment, engine;
  std::optional<std::string> dt, substep, out, save, restore;
  std::optional<double> duration;
  // As given; "true": without a value; empty: not at all.
  std::string real_time, isolate;
  std::uint64_t seed = 1;
  int threads = 1;
  std::vector<std::string> set, plugins;
  bool json = false, quiet = false;
  bool record = false, show = false;  // show: in a browser
  ViewerArguments viewer;
  std::optional<std::string> video, pcap;
  ViewArguments view;
};
// s that a plugin may take for a call; none: it runs in this process, or the number is bad.
std::optional<double> seconds_of_isolation(const RunArguments& arguments);
// The plugins of VOLVOX_PLUGIN_PATH, for all runs of this command.
void load_users_plugins(std::optional<double> isolate, sim::Library& library, Log& log);
// What prepares a run, out of what was asked for.
Result<sim::RunOptions> run_options(const RunArguments& arguments);
int run_command(const RunArguments& arguments, sim::Library& library, Log& log);

// `volvox sweep`: an experiment over values and seeds, a process a run.
struct SweepArguments {
  RunArguments run;  // its seed is the first one
  std::vector<std::string> vary;
  int seeds = 1;
  int jobs = 0;  // 0: as many as the machine has threads for
};
int sweep_command(const SweepArguments& arguments, sim::Library& library, Log& log);

struct PictureArguments {
  RunArguments run;
  std::string file;
  double at = 0;   // s
  int strobe = 1;  // instants in one picture
};
int picture_command(const PictureArguments& arguments, sim::Library& library, Log& log);

struct ReplayArguments {
  std::string folder;
  ViewerArguments viewer;
  int threads = 1;
  bool verify = false, json = false, quiet = false;
};
// Shows a run that is ready to begin, until Ctrl-C; its results go into the folder.
int view_run(std::unique_ptr<sim::Run> run, std::shared_ptr<record::Recorder> recorder, const RunArguments& arguments,
             const sim::RunOptions& options, const std::string& folder, sim::Library& library, Log& log);
int view_recording(record::Recording& recording, const ReplayArguments& arguments);
// `volvox view FILE.sdf`: a robot alone.
int view_robot_command(const std::string& robot, const ViewerArguments& arguments);
void print_results(const sim::RunReport& report, const std::string& folder);
// Asked for before anything is run or written: without its page there is nothing to look at.
Result<void> viewer_is_built();
// Records the run into this file, with the scene that a recording needs to be shown again.
Result<std::shared_ptr<record::Recorder>> start_recording(sim::Run& run, const std::filesystem::path& file);
// All that a run leaves in its folder: what Run::write does, report.html, and the end of its recording (null: it has
// none).
Result<void> write_results(sim::Run& run, record::Recorder* recorder, const std::filesystem::path& folder);
// What was asked for beside the run itself could not be had: what was written of it so far says that it failed.
void write_failure(sim::Run& run, const std::filesystem::path& folder, const std::string& why);

int replay_command(const ReplayArguments& arguments, sim::Library& library, Log& log);

struct ExportArguments {
  std::string folder;
  std::optional<std::string> out;
  bool csv = false;
};
int export_command(const ExportArguments& arguments, Log& log);

int list_command(const std::string& what, bool json, const sim::Library& library);
int info_command(const std::string& thing, const sim::Library& library);

struct BenchArguments {
  std::vector<std::string> scenes;
  std::optional<std::string> engines;
  double seconds = 1;
  int modules = 0;  // 0: 1000
  int threads = 1;
  bool json = false;
};
int bench_command(const BenchArguments& arguments, sim::Library& library, Log& log);

// `volvox bench engines`: the comparison scenes, straight on the engine interface.
struct BenchEnginesArguments {
  std::string scenes = "S1,S2,S3,S4,pile,heap", n, threads = "1";
  std::optional<std::string> engines;
  std::optional<double> seconds;  // simulated; otherwise the scene's own
  double limit = 300;             // s of wall time for one engine in one scene
  int repeats = 1;
  std::uint64_t seed = 1;
  bool json = false, list = false;
};
int bench_engines_command(const BenchEnginesArguments& arguments, sim::Library& library, Log& log);

struct CrosscheckArguments {
  std::string experiment, csv;
  std::optional<std::string> engines, out;
  std::optional<double> duration;
  std::uint64_t seed = 1;
  double tolerance = 0.1;  // a metric that differs by more is called a disagreement
  std::vector<std::string> set;
  bool json = false;
};
int crosscheck_command(const CrosscheckArguments& arguments, sim::Library& library, Log& log);

// `volvox net flood`: a network scenario without robots.
struct NetArguments {
  std::uint32_t nodes = 400;
  std::string mode = "exact", layout = "grid", pcap;
  int dimension = 2;
  double spacing = 1;
  std::optional<double> range, cull;
  std::optional<std::uint32_t> window;
  std::uint64_t seed = 1;
  bool json = false;
};
int net_flood_command(const NetArguments& arguments);

// `volvox scan ...`: arenas from laser data. One of its subcommands, with what was given to it.
struct ScanArguments {
  std::string input, second, output, truth, path, cloud, method = "gsrm";
  std::vector<std::string> scans;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> scan_seed;  // of simulate; otherwise the seed
  double length = 4, width = 3, height = 0.6, noise = -1, shake = 0.01, drift = 0.02, cell = 0, density = 5000;
  int boxes = 3, least = 0;
  bool no_pit = false, raw = false, no_filter = false, placed = false, json = false, quiet = false;
  std::size_t points = 98'000, outliers = 2'000, triangles = 0, nodes = 0, steps = 0;
  std::string robot = "wheelbot", behavior = "wander";
  RunArguments run;
};
void add_scan(CLI::App& app, ScanArguments& arguments);
int scan_command(const CLI::App& scan, const ScanArguments& arguments, sim::Library& library, Log& log);

int new_command(const std::string& kind, const std::string& name, const std::string& folder);
int completion_command(const std::string& shell);

// Those of Volvox and of the plugins that are loaded.
view::RenderEngineRegistry render_engines(const sim::Library& library);

// Prints an error as everybody expects it, and returns the exit status of bad input.
int complain(const Error& error);

// "a,b,c" as its parts.
std::vector<std::string> split_list(const std::string& list);

// What --engines names; nothing where it was not given. A list that names none is a mistake, and no wish for the
// default.
Result<std::vector<std::string>> engines_named(const std::optional<std::string>& list);

// runs/remod3d_snake/001, 002, ...: makes the first that is free. Making it claims it: runs
// that go on at the same time never write into one folder.
Result<std::filesystem::path> make_next_run_folder(std::string experiment);

// A number within bounds, and nothing else.
std::optional<double> parse_number(const std::string& text, double low, double high);

// KEY=VALUE pairs.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& set);

}  // namespace volvox::cli
