// The subcommands: one function for each, which returns the exit status; and the helpers that they share.
// Called once a process, from its first thread. Only these, and what is said in terminal.h, print.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/platform/folder_lock.h"
#include "volvox/base/result.h"
#include "volvox/record/recorder.h"
#include "volvox/record/recording.h"
#include "volvox/sim/experiment.h"
#include "volvox/sim/run.h"
#include "volvox/view/render_engine.h"

namespace CLI {
class App;
}
namespace volvox::view {
class Viewer;
}

namespace volvox::cli {

inline constexpr int done = 0, run_failed = 1, bad_input = 2;

// The address of the viewer.
struct ViewerArguments {
  std::string host = "127.0.0.1";
  int port = 0;
  bool no_browser = false, no_token = false;
};

// Settings of pictures and videos. No camera: the experiment's own.
struct ViewArguments {
  std::string renderer = "picture", camera, size = "1280x720", docks = "state";
  std::string color_by, cut;  // of the cloud; empty: its own colours, whole
  bool rays = false, messages = false;
  std::optional<int> threads;  // that draw; none: as many as there are processors
};

struct RunArguments {
  std::string experiment, engine;
  std::optional<std::string> dt, substep, precision, out, save, restore;
  std::optional<double> duration, save_every;
  // The text of the option; "true": given without a value; empty: not given.
  std::string real_time, isolate;
  std::uint64_t seed = 1;
  std::optional<int> threads;  // none: one, and pictures are drawn by all processors
  std::vector<std::string> set, plugins;
  bool json = false, quiet = false, accept_changes = false;
  bool record = false, show = false, paused = false;  // show: in a browser; paused: at its start
  ViewerArguments viewer;
  std::optional<std::string> video, pcap;
  ViewArguments view;
};
// The time limit of a call to a plugin, s; none: it runs in this process, or the number is bad.
std::optional<double> seconds_of_isolation(const RunArguments& arguments);
// Of memory, for each process of an isolated plugin.
void limit_isolated_memory(double megabytes, sim::Library& library);
// The plugins of VOLVOX_PLUGIN_PATH, for all runs of this command.
void load_users_plugins(std::optional<double> isolate, sim::Library& library, Log& log);
// The options of a run, from the arguments.
Result<sim::RunOptions> run_options(const RunArguments& arguments);
int run_command(const RunArguments& arguments, sim::Library& library, Log& log);

// `volvox sweep`: an experiment over values and seeds, each run in its own process.
struct SweepArguments {
  RunArguments run;  // its seed is the first seed
  std::vector<std::string> vary;
  int seeds = 1;
  int jobs = 0;  // 0: as many as the machine's hardware threads allow
  std::string ranks = "auto";
};
int sweep_command(const SweepArguments& arguments, sim::Library& library, Log& log);

// `volvox reproduce`: what the papers claim, beside what is measured.
struct ReproduceArguments {
  std::vector<std::string> what;  // papers, places, experiments; empty: all
  bool quick = false, full = false;
  std::optional<int> seeds;
  std::uint64_t seed = 1001;
  int jobs = 0;  // 0: as many as there are hardware threads
  std::optional<std::string> out;
  bool list = false, no_pictures = false;
  bool figures = false, store = false, check = false;  // of experiments/*/results
  bool json = false, quiet = false;
};
void add_reproduce(CLI::App& app, ReproduceArguments& arguments);
int reproduce_command(const ReproduceArguments& arguments, sim::Library& library, Log& log);

struct PictureArguments {
  RunArguments run;
  std::string file;
  double at = 0;   // s
  int strobe = 1;  // number of instants in one picture
};
int picture_command(const PictureArguments& arguments, sim::Library& library, Log& log);

struct ReplayArguments {
  std::string folder;
  ViewerArguments viewer;
  int threads = 1;
  bool verify = false, json = false, quiet = false, accept_changes = false;
};
// The server of a run that is to be shown. It prints the address.
Result<std::unique_ptr<view::Viewer>> start_viewer_of_run(const RunArguments& arguments);
// Shows a run that is ready to begin, until Ctrl-C (`stop`); its results go into the folder. What is made besides (a
// film, a capture) is finished when the run ends or is reset for the first time.
int view_run(std::unique_ptr<sim::Run> run, view::Viewer& viewer, std::shared_ptr<record::Recorder> recorder,
             const RunArguments& arguments, const sim::RunOptions& options, const std::string& folder,
             sim::Library& library, Log& log, std::function<Result<void>()> finish_besides,
             const std::atomic<bool>& stop);
int view_recording(record::Recording& recording, const ReplayArguments& arguments);
// `volvox view FILE.sdf`: a robot alone.
int view_robot_command(const std::string& robot, const ViewerArguments& arguments, const sim::Library& library);
void print_results(const sim::RunReport& report, const std::string& folder);
// Checked before anything is run or written: the viewer needs its page.
Result<void> viewer_is_built();
// Records the run into this file, with the render tree that a recording needs to be shown again.
Result<std::shared_ptr<record::Recorder>> start_recording(sim::Run& run, const std::filesystem::path& file);
// Makes the folder of the results and keeps it for this process: two that write into it would mix their files.
Result<platform::FolderLock> keep_folder(const std::filesystem::path& folder, double patience = 0);
// Writes all results of a run into its folder: the files of Run::write, report.html, and the end of the recording
// (null: none).
Result<void> write_results(sim::Run& run, record::Recorder* recorder, const std::filesystem::path& folder);
// Marks the results written so far as failed, because something that was asked for besides the run could not be made.
void write_failure(sim::Run& run, const std::filesystem::path& folder, const std::string& why);

int replay_command(const ReplayArguments& arguments, sim::Library& library, Log& log);

struct ExportArguments {
  std::string folder;
  std::optional<std::string> out;
  bool csv = false;
  std::string page;        // the file to write; empty: none
  std::int64_t every = 0;  // ticks between two that the page shows; 0: as fits
};
int export_command(const ExportArguments& arguments, Log& log);

enum class ListAs { table, json, names };
int list_command(const std::string& what, ListAs form, const sim::Library& library);
int info_command(const std::string& thing, const sim::Library& library);
int parameter_names_command(const std::string& experiment, const sim::Library& library);
std::vector<std::string> kinds_of_things();  // that can be listed: experiments, robots, ...
// The names of one kind, or of all (""); none for an unknown kind.
std::vector<std::string> names_of(const std::string& kind, const sim::Library& library);
// Nothing if there is no such experiment.
std::vector<std::string> parameters_of(const std::string& experiment, const sim::Library& library);
// What it may be set to: its choices, or its default.
std::vector<std::string> values_of_parameter(const std::string& experiment, const std::string& parameter,
                                             const sim::Library& library);

struct BenchArguments {
  std::vector<std::string> scenes;
  std::optional<std::string> engines, dt;
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
  std::optional<double> seconds;  // simulated; none: the default of the scene
  double limit = 300;             // s of wall time for one engine in one scene
  int repeats = 1;
  std::uint64_t seed = 1;
  bool json = false, list = false;
};
void add_bench_engines(CLI::App& bench, BenchEnginesArguments& arguments);
int bench_engines_command(const BenchEnginesArguments& arguments, sim::Library& library, Log& log);

struct CrosscheckArguments {
  std::string experiment, csv;
  std::optional<std::string> engines, out;
  std::optional<double> duration;
  std::uint64_t seed = 1;
  double tolerance = 0.1;  // relative difference of a metric above which engines disagree
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
  std::optional<double> range, cull, slot;
  std::optional<std::uint32_t> window, source;
  double rate = 6000;
  std::uint32_t payload = 53;
  std::uint64_t seed = 1;
  bool json = false;
};
void add_net(CLI::App& app, NetArguments& arguments);
int net_flood_command(const NetArguments& arguments);

// `volvox scan ...`: arenas from laser data. The subcommand and its arguments.
struct ScanArguments {
  std::string subcommand;
  std::string input, second, output, truth, path, cloud, method = "gsrm";
  std::vector<std::string> scans, objects;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> scan_seed;  // of simulate; none: the seed
  double length = 4, width = 3, height = 0.6, noise = -1, shake = 0.01, drift = 0.02, cell = 0, density = 5000;
  int boxes = 3, least = 0;
  bool no_pit = false, raw = false, no_filter = false, placed = false, json = false, quiet = false;
  std::size_t points = 98'000, outliers = 2'000, triangles = 0, nodes = 0, steps = 0;
  std::string robot = "wheelbot", behavior = "wander";
  RunArguments run;
};
void add_scan(CLI::App& app, ScanArguments& arguments);
int scan_command(const ScanArguments& arguments, sim::Library& library, Log& log);

int new_command(const std::string& kind, const std::string& name, const std::string& folder,
                const sim::Library& library);
int completion_command(const std::string& shell);

// Of Volvox and of the loaded plugins.
view::RenderEngineRegistry render_engines(const sim::Library& library);

// Prints an error in the usual form and returns the exit status of bad input.
int complain(const Error& error);

// Splits "a,b,c".
std::vector<std::string> split_list(const std::string& list);

// The engines of --engines; nothing if the option is absent. An empty list is an error, not the default.
Result<std::vector<std::string>> engines_named(const std::optional<std::string>& list);
// The same; if the option is absent, the default engine and all others in which bodies move.
Result<std::vector<std::string>> engines_to_compare(const std::optional<std::string>& list,
                                                    const sim::Library& library);

// Makes the first free folder of runs/remod3d_snake/001, 002, ... The atomic mkdir reserves it: runs at the same time
// never share a folder.
Result<std::filesystem::path> make_next_run_folder(std::string experiment);
// A name that is too long for a file system: its beginning, and its hash.
std::string short_name(const std::string& name);
// The name for it: that of an experiment, or, as two world files may have one name, the path of the file.
std::string folder_name(const std::string& experiment_or_file, const std::string& name);

// Parses a number within bounds; other characters are an error.
std::optional<double> parse_number(const std::string& text, double low, double high);

// KEY=VALUE pairs.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& set);

}  // namespace volvox::cli
