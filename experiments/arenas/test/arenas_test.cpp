// The results of the Symbrion paper about its arenas, on the native engine and on bullet.
#include <gtest/gtest.h>

#include "../pit.h"
#include "study.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/files.h"

namespace volvox::experiments::arenas {
namespace {

struct Outcome {
  sim::RunReport report;
  double metric(const std::string& name) const { return experiments::metric(report, name); }
};

Outcome run(const std::string& experiment, const std::string& engine, std::map<std::string, std::string> settings,
            double duration, std::uint64_t seed = 1, int threads = 1, const std::string& save_to = {},
            const std::string& restore_from = {}) {
  sim::RunOptions options;
  options.experiment = experiment;
  options.engine = engine;
  options.settings = std::move(settings);
  options.duration = duration;
  options.seed = seed;
  options.threads = threads;
  if (!save_to.empty()) options.save_to = save_to;
  if (!restore_from.empty()) options.restore_from = restore_from;
  return {experiments::run(options)};
}

TEST(Arenas, the_simple_one_is_closed_but_for_its_top) {
  const scan::TriangleMesh mesh = simple_arena({});
  EXPECT_EQ(mesh.triangles.size(), 34u);
  const scan::Topology topology = scan::topology(mesh);
  EXPECT_EQ(topology.boundary_edges, 4u);  // the top edges of the walls
  EXPECT_TRUE(topology.two_manifold());
  const scan::TriangleMesh fine = subdivided(mesh, 20);
  EXPECT_EQ(fine.triangles.size(), 34u * 400);
  EXPECT_NEAR(scan::area(fine), scan::area(mesh), 1e-9);
  EXPECT_TRUE(scan::topology(fine).two_manifold());
}

TEST(Arenas, a_long_snake_crosses_the_pit_and_a_short_one_falls_in) {
  for (const char* engine : {"native", "bullet"}) {
    const Outcome longer = run("arenas/pit_snake", engine, {{"modules", "8"}}, 10);
    EXPECT_EQ(longer.metric("crossed"), 1) << engine;
    EXPECT_GT(longer.metric("lowest_m"), -0.05) << engine;
    EXPECT_EQ(run("arenas/pit_snake", engine, {{"pit", "0.44"}}, 10).metric("crossed"), 1);
    EXPECT_EQ(run("arenas/pit_snake", engine, {{"pit", "0.44"}, {"bend", "0"}}, 10).metric("crossed"), 0);
    const Outcome shorter = run("arenas/pit_snake", engine, {{"modules", "5"}}, 7);
    EXPECT_EQ(shorter.metric("crossed"), 0) << engine;
    EXPECT_LT(shorter.metric("lowest_m"), -0.1) << engine;
  }
}

TEST(Arenas, the_fineness_of_a_mesh_changes_neither_the_outcome_nor_a_reading) {
  EXPECT_EQ(run("arenas/pit_snake", "native", {{"modules", "8"}, {"detail", "20"}}, 10).metric("crossed"), 1);
  for (const char* detail : {"1", "20"}) {
    const Outcome seen = run("arenas/rangefinder", "native", {{"detail", detail}}, 2);
    EXPECT_GT(seen.metric("returned"), 0.99);
    EXPECT_LT(seen.metric("range_error_max_mm"), 1e-6);
  }
}

TEST(Arenas, an_arena_built_from_points_gives_the_same_outcome) {
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome planes = run("arenas/reconstruct", "native", {{"method", "pf"}}, 0.1, seed);
    EXPECT_LE(planes.metric("triangles"), 80);
    EXPECT_LT(planes.metric("hausdorff_mm"), 10);
    EXPECT_EQ(planes.metric("planes_found"), planes.metric("planes"));
    const Outcome net = run("arenas/reconstruct", "native", {{"method", "gsrm"}, {"triangles", "2000"}}, 0.1, seed);
    EXPECT_EQ(net.metric("non_manifold_edges"), 0);
    EXPECT_GT(net.metric("f_2cm"), 0.99);
    for (const char* arena : {"pf", "gsrm"}) {
      const auto crossed = [&](const char* modules, double duration) {
        return run("arenas/pit_snake", "native", {{"modules", modules}, {"arena", arena}}, duration, seed)
            .metric("crossed");
      };
      EXPECT_EQ(crossed("8", 10), 1) << arena;
      EXPECT_EQ(crossed("5", 7), 0) << arena;
    }
  }
}

TEST(Arenas, a_robot_that_drives_around_scans_all_planes) {
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome planes = run("arenas/reconstruct", "native", {{"method", "pf"}, {"scanner", "drive"}}, 0.1, seed);
    EXPECT_LT(planes.metric("path_error_max_mm"), 10);
    EXPECT_LT(planes.metric("heading_error_max_deg"), 0.5);
    EXPECT_GT(planes.metric("raw_points"), planes.metric("points"));
    EXPECT_EQ(planes.metric("planes_found"), planes.metric("planes"));
    EXPECT_LE(planes.metric("triangles"), 150);
    EXPECT_GT(planes.metric("f_2cm"), 0.98);
  }
}

// Figures 3 and 4, and what the methods give as they are printed.
TEST(Arenas, nets_have_the_size_of_the_papers_after_its_steps) {
  const auto built = [](const char* method, const char* steps, const char* plain) {
    return run("arenas/reconstruct", "native", {{"method", method}, {"steps", steps}, {"plain", plain}}, 0.1, 11);
  };
  EXPECT_NEAR(built("gg", "50000", "true").metric("triangles"), 210, 25);
  EXPECT_NEAR(built("gg", "200000", "true").metric("triangles"), 576, 60);
  const Outcome settled = built("gsrm", "800", "false"), printed = built("gsrm", "800", "true");
  EXPECT_LT(2 * settled.metric("accuracy_mean_mm"), printed.metric("accuracy_mean_mm"));
}

TEST(Arenas, the_stages_of_a_reconstruction_can_be_looked_at) {
  for (const char* show : {"raw", "clean", "clusters", "merged", "borders"})
    EXPECT_EQ(run("arenas/reconstruct", "native", {{"method", "pf"}, {"show", show}}, 0.1).report.status, "done")
        << show;
}

TEST(Arenas, noise_and_mixed_pixels_disturb_a_scan_the_same_way_at_any_thread_count) {
  const std::map<std::string, std::string> settings{{"noise", "0.007"}, {"divergence", "0.01"}};
  for (const std::uint64_t seed : test_seeds) {
    const Outcome one = run("arenas/rangefinder", "native", settings, 1, seed),
                  three = run("arenas/rangefinder", "native", settings, 1, seed, 3);
    EXPECT_EQ(one.report.state_hash, three.report.state_hash) << "seed " << seed;
    // The mean of |x| for a normal x is 0.8 deviations.
    EXPECT_NEAR(one.metric("range_error_mean_mm"), 7 * 0.8, 1.5) << "seed " << seed;
    EXPECT_GT(one.metric("range_error_max_mm"), 20) << "seed " << seed;
  }
}

TEST(Arenas, a_scout_drives_in_a_scanned_room_and_its_laser_sees_what_was_scanned) {
  const std::string file = testing::TempDir() + "room.xyz";
  for (const std::uint64_t seed : test_seeds) {  // of the room and of its scan
    const auto room = scan::make_arena({.seed = seed, .pit = false, .boxes = 1});
    const auto cloud = scan::sample_cloud(room->mesh, {.seed = seed, .points = 30'000, .outliers = 100});
    ASSERT_TRUE(scan::write_cloud(cloud, file).ok());
    for (const char* method : {"pf", "mixed"}) {
      const Outcome driven = run("arenas/room", "native", {{"scan", file}, {"method", method}}, 3, seed);
      EXPECT_GT(driven.metric("way_m"), 0.2) << method << ", seed " << seed;
      EXPECT_GT(driven.metric("lowest_m"), -0.02) << method << ", seed " << seed;
      EXPECT_GT(driven.metric("returned"), 0.95) << method << ", seed " << seed;
      EXPECT_GT(driven.metric("near_scan"), 0.95) << method << ", seed " << seed;
    }
  }
  const Outcome one = run("arenas/room", "native", {{"scan", file}, {"method", "pf"}}, 0.5);
  model::Sources scan;
  model::note_source(scan, file);
  EXPECT_EQ(one.report.files.count(scan.begin()->first), 1u) << "the scan is one of the files of the run";
  EXPECT_EQ(one.report.state_hash,
            run("arenas/room", "native", {{"scan", file}, {"method", "pf"}}, 0.5, 1, 3).report.state_hash);
}

TEST(Arenas, known_objects_are_recognized_and_scouts_dock_with_the_plug) {
  Outcome last;
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    last = run("arenas/objects", "native", {}, 5, seed);
    EXPECT_EQ(last.metric("known"), 5);
    EXPECT_EQ(last.metric("found"), 5);
    EXPECT_EQ(last.metric("wrongly_found"), 0);
    EXPECT_LT(last.metric("position_error_max_mm"), 10);
    EXPECT_EQ(last.metric("docked"), 1);
  }
  const std::uint64_t seed = std::end(test_seeds)[-1];
  EXPECT_EQ(run("arenas/objects", "native", {}, 5, seed, 3).report.state_hash, last.report.state_hash);
  const Outcome bare = run("arenas/objects", "native", {{"known", "false"}, {"boxes", "4"}}, 0.1, seed);
  EXPECT_EQ(bare.metric("known"), 0);
  EXPECT_EQ(bare.metric("wrongly_found"), 0);
}

TEST(Arenas, a_mesh_gets_better_and_coloured_as_the_robot_drives) {
  Outcome explored;
  for (const std::uint64_t seed : test_seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    explored = run("arenas/explore", "native", {{"method", "pf"}, {"every", "2"}}, 6, seed);
    EXPECT_EQ(explored.metric("learned"), 3);
    EXPECT_GT(explored.metric("f_2cm_last"), 1.3 * explored.metric("f_2cm_first"));
    EXPECT_LT(explored.metric("completeness_last_mm"), 0.7 * explored.metric("completeness_first_mm"));
    EXPECT_GT(explored.metric("painted"), 0.2);
    EXPECT_GT(explored.metric("color_right"), 0.6);
    EXPECT_LT(explored.metric("path_error_max_mm"), 20);
    EXPECT_GT(explored.metric("path_error_max_mm"), 0.1) << "it locates itself, and that is never exact";
  }

  // The result is the same at any thread count, and after a restart between two meshes and two pictures.
  const std::string half = testing::TempDir() + "explore_half.snap";
  const std::uint64_t last = std::end(test_seeds)[-1];
  run("arenas/explore", "native", {{"method", "pf"}, {"every", "2"}}, 3.4, last, 2, half);
  const Outcome restored = run("arenas/explore", "native", {{"method", "pf"}, {"every", "2"}}, 6, last, 3, {}, half);
  EXPECT_EQ(restored.report.state_hash, explored.report.state_hash);
  for (const char* name : {"learned", "too_little", "triangles", "f_2cm_first", "f_2cm_last", "completeness_first_mm",
                           "completeness_last_mm", "painted", "color_right", "path_error_max_mm"})
    EXPECT_EQ(restored.metric(name), explored.metric(name)) << name;
}

}  // namespace
}  // namespace volvox::experiments::arenas
