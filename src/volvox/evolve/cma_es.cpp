// CMA-ES (Hansen 2016, "The CMA Evolution Strategy: A Tutorial", equations by number) on genes from 0 to 1, and
// differential evolution (Storn and Price 1997). Both for the minds of a given body: their genomes have one length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/evolve/algorithm.h"

namespace volvox::evolve {
namespace {

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;

Matrix identity(std::size_t n) {
  Matrix matrix(n, Numbers(n, 0));
  for (std::size_t i = 0; i < n; ++i) matrix[i][i] = 1;
  return matrix;
}

// Eigenvectors (columns) and eigenvalues of a symmetric matrix, by Jacobi's rotations in a fixed order: the same bits
// everywhere.
void eigen(Matrix a, Matrix& vectors, Numbers& values) {
  const std::size_t n = a.size();
  vectors = identity(n);
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) off += a[i][j] * a[i][j];
    if (off < 1e-24) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = vectors[k][p], kq = vectors[k][q];
          vectors[k][p] = c * kp - s * kq, vectors[k][q] = s * kp + c * kq;
        }
      }
  }
  values.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::max(1e-20, a[i][i]);
}

// A gene that was drawn beyond an end comes back as from a mirror, so that no end collects genes.
double mirrored(double gene) {
  gene = std::fabs(std::fmod(gene, 2));
  return gene > 1 ? 2 - gene : gene;
}

class CmaEs final : public Algorithm {
 public:
  explicit CmaEs(const Task& task) : sigma_(std::max(0.2, task.algorithm.step)) {}

  Result<void> accepts(const Genome& genome) const override {
    if (const std::size_t genes = flat(genome).size(); genes > most_genes)
      return Error(fmt::format("{} genes are too many for cmaes: the work grows with their cube", genes),
                   fmt::format("use \"de\", or at most {} genes", most_genes));
    return {};
  }

  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    if (told_ == 0 && best_.empty()) {  // anew: a first generation that was stopped is asked for again, and draws alike
      form_ = breeder.random(random);
      mean_.assign(flat(form_).size(), 0.5);
      start();
    }
    const std::size_t n = mean_.size();
    VOLVOX_ASSERT(covariance_.size() == n && path_.size() == n && step_path_.size() == n && sigma_ > 0);
    Matrix basis;
    Numbers values;
    eigen(covariance_, basis, values);
    std::vector<Individual> asked(count);
    for (Individual& one : asked) {
      Numbers z(n), x(n);
      for (std::size_t i = 0; i < n; ++i) z[i] = random.normal() * std::sqrt(values[i]);
      for (std::size_t i = 0; i < n; ++i) {
        double y = 0;
        for (std::size_t k = 0; k < n; ++k) y += basis[i][k] * z[k];
        x[i] = mirrored(mean_[i] + sigma_ * y);
      }
      one.genome = with_flat(form_, x);
      if (!best_.empty()) one.parents = {best_.front().number};
    }
    return asked;
  }

  void tell(std::vector<Individual> tried) override {
    std::ranges::stable_sort(tried,
                             [](const Individual& a, const Individual& b) { return fitter(a.fitness(), b.fitness()); });
    while (!tried.empty() && std::isnan(tried.back().fitness())) tried.pop_back();
    if (tried.empty()) return;
    if (tried.size() > 1) adapt(tried);
    for (Individual& one : tried) best_.push_back(std::move(one));
    std::ranges::stable_sort(best_,
                             [](const Individual& a, const Individual& b) { return fitter(a.fitness(), b.fitness()); });
    if (best_.size() > most_kept) best_.resize(most_kept);
  }

  std::vector<const Individual*> archive() const override { return addresses_of(best_); }
  Json save() const override {
    return {{"form", to_json(form_)}, {"mean", mean_},           {"covariance", covariance_},
            {"path", path_},          {"step path", step_path_}, {"sigma", sigma_},
            {"told", told_},          {"best", to_json(best_)}};
  }
  Result<void> load(const Json& state) override {
    try {
      auto form = genome_from(state.at("form"));
      auto best = individuals_from(state.at("best"));
      if (!form.ok()) return form.error();
      if (!best.ok()) return best.error();
      form_ = std::move(*form), best_ = std::move(*best);
      mean_ = state.at("mean").get<Numbers>();
      covariance_ = state.at("covariance").get<Matrix>();
      path_ = state.at("path").get<Numbers>(), step_path_ = state.at("step path").get<Numbers>();
      sigma_ = state.at("sigma").get<double>();
      told_ = state.at("told").get<int>();
    } catch (const Json::exception&) {
      return Error("the state of cmaes is damaged", "use another state");
    }
    const std::size_t n = mean_.size();
    const bool square = covariance_.size() == n &&
                        std::ranges::all_of(covariance_, [n](const Numbers& row) { return row.size() == n; });
    if (!square || path_.size() != n || step_path_.size() != n || (n > 0 && flat(form_).size() != n))
      return Error("the state of cmaes is damaged", "use another state");
    return {};
  }

 private:
  static constexpr std::size_t most_kept = 8, most_genes = 2000;

  void start() {
    const std::size_t n = mean_.size();
    covariance_ = identity(n);
    path_.assign(n, 0), step_path_.assign(n, 0);
  }

  void adapt(const std::vector<Individual>& sorted) {
    const std::size_t n = mean_.size(), mu = std::max<std::size_t>(1, sorted.size() / 2);
    const double size = real(n);
    Numbers weights(mu);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < mu; ++i) sum += weights[i] = volvox::log(real(mu) + 0.5) - volvox::log(real(i) + 1);
    for (double& weight : weights) weight /= sum, squares += weight * weight;
    const double mueff = 1 / squares;
    VOLVOX_ASSERT(mueff >= 1 - 1e-9 && mueff <= real(mu) + 1e-9);
    const double cc = (4 + mueff / size) / (size + 4 + 2 * mueff / size);                                  // (56)
    const double cs = (mueff + 2) / (size + mueff + 5);                                                    // (55)
    const double c1 = 2 / ((size + 1.3) * (size + 1.3) + mueff);                                           // (57)
    const double cmu = std::min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((size + 2) * (size + 2) + mueff));  // (58)
    const double damps = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (size + 1)) - 1) + cs;
    const double chi = std::sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size * size));

    std::vector<Numbers> steps(mu);
    Numbers step(n, 0);
    for (std::size_t k = 0; k < mu; ++k) {
      const Numbers x = flat(sorted[k].genome);
      VOLVOX_ASSERT(x.size() == n);  // bodies do not change
      for (std::size_t i = 0; i < n; ++i) steps[k].push_back((x[i] - mean_[i]) / sigma_);
      for (std::size_t i = 0; i < n; ++i) step[i] += weights[k] * steps[k][i];
    }
    Matrix basis;
    Numbers values;
    eigen(covariance_, basis, values);
    Numbers white(n, 0);  // C^(-1/2) step
    for (std::size_t k = 0; k < n; ++k) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += basis[i][k] * step[i];
      for (std::size_t i = 0; i < n; ++i) white[i] += basis[i][k] * along / std::sqrt(values[k]);
    }
    double length2 = 0, decay = 1;
    for (std::size_t i = 0; i < n; ++i) {
      step_path_[i] = (1 - cs) * step_path_[i] + std::sqrt(cs * (2 - cs) * mueff) * white[i];  // (43)
      length2 += step_path_[i] * step_path_[i];
    }
    ++told_;
    for (int i = 0; i < 2 * std::min(told_, 10'000); ++i) decay *= 1 - cs;
    const bool steady = std::sqrt(length2) / std::sqrt(1 - decay) < (1.4 + 2 / (size + 1)) * chi;
    for (std::size_t i = 0; i < n; ++i)
      path_[i] = (1 - cc) * path_[i] + (steady ? std::sqrt(cc * (2 - cc) * mueff) * step[i] : 0);  // (45)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double rank_mu = 0;
        for (std::size_t k = 0; k < mu; ++k) rank_mu += weights[k] * steps[k][i] * steps[k][j];
        const double late = steady ? 0 : c1 * cc * (2 - cc);
        covariance_[i][j] =
            (1 - c1 - cmu + late) * covariance_[i][j] + c1 * path_[i] * path_[j] + cmu * rank_mu;  // (47)
      }
    for (std::size_t i = 0; i < n; ++i) mean_[i] = clamp(mean_[i] + sigma_ * step[i], 0, 1);
    sigma_ = clamp(sigma_ * volvox::exp(std::min(1.0, cs / damps * (std::sqrt(length2) / chi - 1))), 1e-6, 1);  // (44)
  }

  Genome form_;  // the body, and how many genes there are
  Numbers mean_, path_, step_path_;
  Matrix covariance_;
  double sigma_;
  int told_ = 0;
  std::vector<Individual> best_;  // of all generations
};

class Differential final : public Algorithm {
 public:
  explicit Differential(const Task&) {}

  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    std::vector<Individual> asked(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (members_.size() < 4) {
        asked[i].genome = breeder.random(random);
        continue;
      }
      const Individual& target = members_[i % members_.size()];
      // Three others, all different.
      std::vector<std::size_t> drawn = {i % members_.size()};
      while (drawn.size() < 4)
        if (const std::size_t k = random.below(members_.size()); std::ranges::find(drawn, k) == drawn.end())
          drawn.push_back(k);
      const Individual &a = members_[drawn[1]], &b = members_[drawn[2]], &c = members_[drawn[3]];
      const Numbers xa = flat(a.genome), xb = flat(b.genome), xc = flat(c.genome);
      Numbers x = flat(target.genome);
      VOLVOX_ASSERT(xa.size() == x.size() && xb.size() == x.size() && xc.size() == x.size());
      const std::size_t sure = random.below(std::max<std::size_t>(1, x.size()));
      for (std::size_t k = 0; k < x.size(); ++k)
        if (k == sure || random.chance(0.9)) x[k] = mirrored(xa[k] + 0.6 * (xb[k] - xc[k]));
      asked[i].genome = with_flat(target.genome, x);
      asked[i].parents = {target.number, a.number};
    }
    return asked;
  }
  void tell(std::vector<Individual> tried) override {
    if (members_.size() < 4) {
      std::ranges::move(tried, std::back_inserter(members_));
      return;
    }
    for (std::size_t i = 0; i < tried.size(); ++i)
      if (Individual& target = members_[i % members_.size()]; !fitter(target.fitness(), tried[i].fitness()))
        target = std::move(tried[i]);
  }
  // A guest takes the place of the worst, if it is fitter.
  void welcome(std::vector<Individual> guests) override {
    for (Individual& guest : guests) {
      const auto worst = std::ranges::min_element(
          members_, [](const Individual& a, const Individual& b) { return fitter(b.fitness(), a.fitness()); });
      if (worst != members_.end() && fitter(guest.fitness(), worst->fitness())) *worst = std::move(guest);
    }
  }
  std::vector<const Individual*> archive() const override { return addresses_of(members_); }
  Json save() const override { return {{"members", to_json(members_)}}; }
  Result<void> load(const Json& state) override { return load_individuals(state, "members", members_); }

 private:
  std::vector<Individual> members_;
};

}  // namespace

std::unique_ptr<Algorithm> make_cma_es(const Task& task) { return std::make_unique<CmaEs>(task); }
std::unique_ptr<Algorithm> make_differential(const Task& task) { return std::make_unique<Differential>(task); }

}  // namespace volvox::evolve
