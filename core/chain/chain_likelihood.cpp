#include "chain/chain_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ranges>
#include <stdexcept>

#include "chain/chain_expectations.hpp"
#include "parallel.hpp"

namespace margent {

namespace {
// Numbers kept for the tokens of a block: 64 MiB of them.
constexpr std::int64_t block_numbers = std::int64_t(1) << 24;
// Chunks of a block, each with a table of its own: enough for many threads, few enough to add up.
constexpr std::int64_t max_chunks = 64;
constexpr std::int64_t max_tables = std::int64_t(1) << 24;
// Tokens summed in single precision before a double takes over.
constexpr std::int64_t piece = 256;
// A column of a sequence of which nothing is known, and nothing learned.
constexpr std::int32_t nothing = unlabelled - 1;
constexpr double largest_weight = 1e25;  // as in a model file

float narrowed(double w) { return static_cast<float>(std::clamp(w, -largest_weight, largest_weight)); }
}  // namespace

std::unique_ptr<Likelihood> ChainOracle::likelihood(const LikelihoodOptions& options, int threads) {
  if (kernel_) throw std::invalid_argument("a kernel has no likelihood: choose a learner of rivals, not a CRF");
  if (pair_costs_) throw std::invalid_argument("a CRF takes label_costs of labels, not of pairs of labels");
  if (!std::ranges::all_of(label_costs_, [](float cost) { return cost > 0; }))
    throw std::invalid_argument("label_costs should be above 0 for a CRF");
  return std::make_unique<ChainLikelihood>(*this, options, threads);
}

ChainLikelihood::ChainLikelihood(ChainOracle& oracle, const LikelihoodOptions& choice, int threads)
    : oracle_(oracle), examples_(oracle.examples()), shape_(oracle.shape()), threads_(std::clamp(threads, 1, 1024)) {
  const ChainShape& s = shape_;
  table_size_ = (s.histories + s.contexts) * s.width;
  const GrowingRows& rows = oracle.dense() ? static_cast<GrowingRows&>(*oracle.dense()) : *oracle.sparse();
  const std::int64_t n_rows = oracle.dense() ? oracle.dense()->n_rows() : oracle.sparse()->n_rows();
  const std::int32_t* labels = examples_.labels;
  unigrams_ = seen_columns(examples_.unigrams, rows, n_rows, s.width, choice.all_pairs,
                           [labels](std::int64_t t, bool) { return labels[t]; });
  if (oracle.edges())
    edges_ = seen_columns(examples_.edges, *oracle.edges(), oracle.edges()->n_rows(), s.base * s.width,
                          choice.all_pairs, [labels, &s](std::int64_t t, bool first) -> std::int32_t {
                            const std::int32_t before = first ? s.n_labels : labels[t - 1];
                            return labels[t] == unlabelled || before == unlabelled ? unlabelled
                                                                                   : before * s.width + labels[t];
                          });
  else
    edges_.ptr = {0};
  n_parameters_ = static_cast<std::int64_t>(unigrams_.columns.size() + edges_.columns.size());
  choose_cells(choice);
  make_blocks();
  LinearChain model = oracle.model();
  model.beam = choice.beam;
  for (int q = 0; q < threads_; ++q)
    workers_.push_back(std::make_unique<ChainExpectations>(model, oracle.label_costs(), choice.best_completion));
}

ChainLikelihood::~ChainLikelihood() = default;

// The columns with which the features of each row were seen, and those that have a weight already, ascending. A column
// that is `unlabelled` stands for all: any of them may complete the labels.
template <class ColumnOf>
ChainLikelihood::Columns ChainLikelihood::seen_columns(const Features& features, const GrowingRows& rows,
                                                       std::int64_t n_rows, std::int64_t n_columns, bool all,
                                                       ColumnOf column_of) const {
  const auto is_label = [this](std::int64_t column) { return column % shape_.width < shape_.n_labels; };
  Columns out;
  out.ptr.reserve(n_rows + 1);
  out.ptr.push_back(0);
  if (all) {
    for (std::int64_t r = 0; r < n_rows; ++r) {
      for (std::int64_t c = 0; c < n_columns; ++c)
        if (is_label(c)) out.columns.push_back(static_cast<std::int32_t>(c));
      out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
    }
    return out;
  }
  // The column of each occurrence, sorted by feature.
  std::vector<std::int64_t> ends(n_rows + 1, 0);
  const std::int64_t n_tokens = examples_.sequence_ptr[examples_.n_sequences];
  const bool any = features.ids != nullptr;
  for (std::int64_t k = 0; any && k < features.ptr[n_tokens]; ++k) ends[features.ids[k] + 1] += 1;
  for (std::int64_t r = 0; r < n_rows; ++r) ends[r + 1] += ends[r];
  std::vector<std::int32_t> seen(ends[n_rows]);
  for (std::int64_t q = 0; any && q < examples_.n_sequences; ++q)
    for (std::int64_t t = examples_.begin(q); t < examples_.begin(q + 1); ++t) {
      check_interruption(4 * (features.ptr[t + 1] - features.ptr[t]));
      const std::int32_t column = labelled(q) ? column_of(t, t == examples_.begin(q)) : nothing;
      for (std::int64_t k = features.ptr[t]; k < features.ptr[t + 1]; ++k) seen[ends[features.ids[k]]++] = column;
    }
  // ends[r] is now where row r ends.
  std::vector<std::int64_t> stamp(n_columns, -1);
  const DenseRows* dense = dynamic_cast<const DenseRows*>(&rows);
  const SparseRows* sparse = dynamic_cast<const SparseRows*>(&rows);
  for (std::int64_t r = 0, k = 0; r < n_rows; ++r) {
    check_interruption(n_columns);
    const std::size_t first = out.columns.size();
    const auto take = [&](std::int32_t column) {
      if (stamp[column] == r) return;
      stamp[column] = r;
      out.columns.push_back(column);
    };
    bool any_column = false;
    // Of a pair of labels each may stand for several.
    const auto take_all = [&](std::int32_t column) {
      const std::int32_t width = shape_.width, before = column / width, label = column % width;
      const std::int32_t n_sublabels =
          n_columns == width || before == shape_.n_labels ? 1 : examples_.n_sublabels(before);
      for (std::int32_t p = before; p < before + n_sublabels; ++p)
        for (std::int32_t y = label; y < label + examples_.n_sublabels(label); ++y) take(p * width + y);
    };
    for (; k < ends[r]; ++k) {
      if (seen[k] >= 0) take_all(seen[k]);
      any_column |= seen[k] == unlabelled;
    }
    for (std::int32_t c = 0; any_column && c < n_columns; ++c)
      if (is_label(c)) take(c);
    if (dense) {
      for (std::int32_t c = 0; c < n_columns; ++c)
        if (is_label(c) && dense->weight(static_cast<std::int32_t>(r), c) != 0) take(c);
    } else {
      for (std::uint32_t e = 0; e < sparse->size(r); ++e)
        if (sparse->entries(r)[e].weight != 0) take(sparse->entries(r)[e].column);
    }
    std::sort(out.columns.begin() + first, out.columns.end());
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

bool ChainLikelihood::labelled(std::int64_t sequence) const {
  const std::int32_t* labels = examples_.labels + examples_.begin(sequence);
  return std::any_of(labels, labels + examples_.length(sequence), [](std::int32_t y) { return y != unlabelled; });
}

void ChainLikelihood::choose_cells(const LikelihoodOptions& choice) {
  if (!oracle_.learn_transitions()) return;
  const ChainShape& s = shape_;
  TransitionWeights& t = oracle_.transitions();
  // Which cells of the tables of a level were seen, any label standing where none is known.
  for (int level = 0; level < s.order; ++level)
    for (const bool end : {true, false}) {
      if (end && !choice.boundaries) continue;
      std::vector<float>& weights = end ? t.end_weights[level] : t.weights[level];
      std::vector<bool> taken(weights.size(), choice.all_transitions);
      const int digits = end ? level : level + 1;  // labels of the history
      const auto take = [&](const std::int32_t* labels, int position, int d, std::int64_t place, std::int64_t cell,
                            const auto& again) -> void {
        if (d > digits) {
          taken[cell] = true;
          return;
        }
        // Digit 0 is the label itself, digit d the one d positions before.
        const std::int64_t next = d == 0 ? s.width : place * s.base;
        const std::int32_t label = position - d < 0 ? s.n_labels : labels[position - d];
        const int last = label == unlabelled   ? s.n_labels
                         : label == s.n_labels ? label + 1
                                               : label + examples_.n_sublabels(label);
        for (int y = std::max(label, 0); y < last; ++y) again(labels, position, d + 1, next, cell + y * place, again);
      };
      for (std::int64_t q = 0; !choice.all_transitions && q < examples_.n_sequences; ++q) {
        if (!labelled(q)) continue;
        const std::int32_t* labels = examples_.labels + examples_.begin(q);
        const int n = examples_.length(q);
        for (int i = end ? std::max(n - 1, 0) : 0; i < n; ++i) take(labels, i, 0, 1, 0, take);
      }
      Cells cells{&weights, {}, n_parameters_, end};
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(weights.size()); ++i) {
        if (i % s.width >= s.n_labels || !(taken[i] || weights[i] != 0)) continue;
        bool after_start = false;
        for (std::int64_t rest = i / s.width, d = 0; d < digits; ++d, rest /= s.base)
          after_start |= rest % s.base == s.n_labels;
        if (choice.boundaries || !after_start) cells.indices.push_back(i);
      }
      n_parameters_ += static_cast<std::int64_t>(cells.indices.size());
      cells_.push_back(std::move(cells));
    }
}

ChainLikelihood::Occurrences ChainLikelihood::occurrences(const Features& f, std::int64_t n_rows, std::int64_t begin,
                                                          std::int64_t end) const {
  Occurrences out;
  std::vector<std::int64_t> at(n_rows + 1, 0);
  for (std::int64_t k = f.ptr[begin]; k < f.ptr[end]; ++k) at[f.ids[k] + 1] += 1;
  out.ptr.push_back(0);
  for (std::int64_t r = 0; r < n_rows; ++r) {
    for (std::int64_t from = 0; from < at[r + 1]; from += piece) {
      out.rows.push_back(static_cast<std::int32_t>(r));
      out.ptr.push_back(at[r] + std::min(from + piece, at[r + 1]));
    }
    at[r + 1] += at[r];
  }
  out.tokens.resize(at[n_rows]);
  if (f.values) out.values.resize(at[n_rows]);
  for (std::int64_t t = begin; t < end; ++t) {
    check_interruption(4 * (f.ptr[t + 1] - f.ptr[t]));
    for (std::int64_t k = f.ptr[t]; k < f.ptr[t + 1]; ++k) {
      const std::int64_t to = at[f.ids[k]]++;
      out.tokens[to] = static_cast<std::int32_t>(t - begin);
      if (f.values) out.values[to] = f.values[k];
    }
  }
  return out;
}

void ChainLikelihood::make_blocks() {
  const std::int64_t numbers = shape_.width * (oracle_.edges() ? 1 + shape_.base : 1);
  const std::int64_t n_chunks = std::clamp<std::int64_t>(max_tables / table_size_, 1, max_chunks);
  for (std::int64_t first = 0, last; first < examples_.n_sequences; first = last) {
    const std::int64_t begin = examples_.begin(first);
    for (last = first + 1; last < examples_.n_sequences; ++last)
      if ((examples_.begin(last + 1) - begin) * numbers > block_numbers) break;
    Block block{first, last, {first}, {}, {}};
    const std::int64_t end = examples_.begin(last);
    for (std::int64_t c = 1; c < n_chunks; ++c) {
      const std::int64_t token = begin + (end - begin) * c / n_chunks;
      const std::int64_t boundary =
          std::lower_bound(examples_.sequence_ptr + first, examples_.sequence_ptr + last, token) -
          examples_.sequence_ptr;
      if (boundary > block.chunks.back() && boundary < last) block.chunks.push_back(boundary);
    }
    block.chunks.push_back(last);
    block.unigrams = occurrences(examples_.unigrams, static_cast<std::int64_t>(unigrams_.ptr.size()) - 1, begin, end);
    if (oracle_.edges() && examples_.edges.ids)
      block.edges = occurrences(examples_.edges, oracle_.edges()->n_rows(), begin, end);
    blocks_.push_back(std::move(block));
  }
}

// visit(parameter, weight) for each parameter of a row of features; several at once where rows do not move.
template <class Visit>
void ChainLikelihood::each_row_weight(Visit visit) const {
  const auto rows = [&](const Columns& columns, std::size_t first, int threads, auto weight) {
    constexpr std::int64_t chunk = 1 << 14;
    const std::int64_t n_rows = static_cast<std::int64_t>(columns.ptr.size()) - 1;
    parallel((n_rows + chunk - 1) / chunk, threads, [&](std::size_t, std::int64_t c) {
      for (std::int64_t r = c * chunk; r < std::min((c + 1) * chunk, n_rows); ++r)
        for (std::int64_t k = columns.ptr[r]; k < columns.ptr[r + 1]; ++k)
          visit(first + k, weight(static_cast<std::int32_t>(r), columns.columns[k]));
    });
  };
  const auto sparse = [](SparseRows& of) {
    return [&of](std::int32_t r, std::int32_t c) -> float& { return of.entry(r, c).weight; };
  };
  if (oracle_.dense()) {
    float* weights = oracle_.dense()->weights();
    const std::size_t width = shape_.width;
    rows(unigrams_, 0, threads_,
         [weights, width](std::int32_t r, std::int32_t c) -> float& { return weights[r * width + c]; });
  } else {
    rows(unigrams_, 0, 1, sparse(*oracle_.sparse()));
  }
  if (oracle_.edges()) rows(edges_, unigrams_.columns.size(), 1, sparse(*oracle_.edges()));
}

void ChainLikelihood::get(double* parameters) const {
  each_row_weight([parameters](std::int64_t i, float& w) { parameters[i] = w; });
  for (const Cells& c : cells_)
    for (std::size_t k = 0; k < c.indices.size(); ++k) parameters[c.first + k] = (*c.weights)[c.indices[k]];
}

void ChainLikelihood::set(const double* parameters) {
  each_row_weight([parameters](std::int64_t i, float& w) { w = narrowed(parameters[i]); });
  for (const Cells& c : cells_)
    for (std::size_t k = 0; k < c.indices.size(); ++k) (*c.weights)[c.indices[k]] = narrowed(parameters[c.first + k]);
  oracle_.transitions().sum_levels();
}

std::vector<std::vector<double>> ChainLikelihood::by_level(const double* table, bool ends) const {
  const TransitionWeights& t = oracle_.transitions();
  const std::int64_t size = (ends ? shape_.contexts : shape_.histories) * shape_.width;
  std::vector<std::vector<double>> levels;
  for (const std::vector<float>& weights : ends ? t.end_weights : t.weights) {
    levels.emplace_back(weights.size(), 0.0);
    for (std::int64_t i = 0; i < size; ++i) levels.back()[i % levels.back().size()] += table[i];
  }
  return levels;
}

// gradient[p] += the residuals of all tokens that have the feature, for each parameter of its row.
void ChainLikelihood::gather_gradient(const Occurrences& of, const Columns& columns, const float* residuals,
                                      std::int64_t width, double* gradient) const {
  const std::int64_t n_pieces = static_cast<std::int64_t>(of.rows.size());
  constexpr std::int64_t at_once = 64;
  const std::int64_t n_tasks = std::min<std::int64_t>(n_pieces, 8 * static_cast<std::int64_t>(threads_));
  // All pieces of a feature belong to the same task.
  // Frequent features come first, so tasks of as many features would not be of the same size.
  const auto work = [&](std::int64_t i) { return of.ptr[i] + 4 * i; };
  const auto boundary = [&](std::int64_t task) {
    const auto pieces = std::views::iota(std::int64_t{0}, n_pieces);
    const auto found = std::ranges::lower_bound(pieces, work(n_pieces) * task / n_tasks, {}, work);
    std::int64_t i = found - pieces.begin();
    while (i > 0 && i < n_pieces && of.rows[i] == of.rows[i - 1]) ++i;
    return i;
  };
  parallel(n_tasks, threads_, [&](std::size_t, std::int64_t task) {
    const std::int64_t begin = boundary(task), end = boundary(task + 1);
    Buffer<float> sums;
    sums.need(at_once * width);
    for (std::int64_t from = begin; from < end; from += at_once) {
      const std::int64_t to = std::min(from + at_once, end);
      kernels<float>().gather(residuals, static_cast<int>(width), of.tokens.data(),
                              of.values.empty() ? nullptr : of.values.data(), of.ptr.data(), from, to, end,
                              sums.data());
      for (std::int64_t i = from; i < to; ++i) {
        const float* row = sums.data() + (i - from) * width;
        for (std::int64_t k = columns.ptr[of.rows[i]]; k < columns.ptr[of.rows[i] + 1]; ++k)
          gradient[k] += row[columns.columns[k]];
      }
    }
  });
}

double ChainLikelihood::evaluate(double* gradient) {
  const ChainShape& s = shape_;
  for (auto& worker : workers_) worker->refresh(1);
  // Sequences are scored in order, so the rows of the next one can be fetched while this one ends.
  Examples in_order = examples_;
  in_order.unigrams.last = examples_.sequence_ptr[examples_.n_sequences];
  if (gradient) std::fill(gradient, gradient + n_parameters_, 0.0);
  double sum = 0;
  const bool counted = gradient && !cells_.empty();  // tables of all pairs of labels are large
  std::vector<double> table(counted ? table_size_ : 0, 0.0);
  for (const Block& block : blocks_) {
    const std::int64_t begin = examples_.begin(block.first), n_tokens = examples_.begin(block.last) - begin;
    const std::int64_t edge_width = s.base * s.width;
    const bool with_edges = !block.edges.rows.empty();
    if (gradient) {
      residuals_.need(n_tokens * s.width);
      if (with_edges) edge_residuals_.need(n_tokens * edge_width);
    }
    const std::int64_t n_chunks = static_cast<std::int64_t>(block.chunks.size()) - 1;
    std::vector<double> losses(n_chunks, 0.0);
    std::vector<std::vector<double>> tables(n_chunks);
    parallel(n_chunks, threads_, [&](std::size_t thread, std::int64_t c) {
      ChainExpectations& worker = *workers_[thread];
      worker.clear();
      for (std::int64_t q = block.chunks[c]; q < block.chunks[c + 1]; ++q) {
        const std::int64_t at = examples_.begin(q) - begin, n = examples_.length(q);
        float *nodes = nullptr, *edges = nullptr;
        if (gradient) {
          nodes = residuals_.data() + at * s.width;
          std::memset(nodes, 0, n * s.width * sizeof(float));
          if (with_edges) {
            edges = edge_residuals_.data() + at * edge_width;
            std::memset(edges, 0, n * edge_width * sizeof(float));
          }
        }
        losses[c] += worker.add(in_order, q, examples_.weights ? examples_.weights[q] : 1.0, nodes, edges);
      }
      worker.flush();
      if (counted) tables[c] = worker.table();
    });
    for (std::int64_t c = 0; c < n_chunks; ++c) {
      sum += losses[c];
      for (std::size_t i = 0; i < tables[c].size(); ++i) table[i] += tables[c][i];
    }
    if (!gradient) continue;
    gather_gradient(block.unigrams, unigrams_, residuals_.data(), s.width, gradient);
    if (with_edges)
      gather_gradient(block.edges, edges_, edge_residuals_.data(), edge_width, gradient + unigrams_.columns.size());
  }
  if (counted) {
    const auto histories = by_level(table.data(), false), ends = by_level(table.data() + s.histories * s.width, true);
    std::size_t level[2] = {0, 0};
    for (const Cells& c : cells_) {
      const std::vector<double>& counts = (c.end ? ends : histories)[level[c.end]++];
      for (std::size_t k = 0; k < c.indices.size(); ++k) gradient[c.first + k] = counts[c.indices[k]];
    }
  }
  return sum;
}

double ChainLikelihood::value(const std::int64_t* numbers, std::int64_t n) {
  ChainExpectations& worker = *workers_[0];
  worker.refresh(1);
  worker.clear();
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    check_interruption(1 << 10);
    sum += worker.add(examples_, numbers[i], examples_.weights ? examples_.weights[numbers[i]] : 1.0, nullptr, nullptr);
  }
  return sum;
}

double ChainLikelihood::descend(const std::int64_t* numbers, std::int64_t n, double eta, double decay, double first) {
  const ChainShape& s = shape_;
  ChainExpectations& worker = *workers_[0];
  DenseRows* dense = oracle_.dense();
  const std::int64_t edge_width = s.base * s.width;
  const bool with_edges = oracle_.edges() && examples_.edges.ids;
  double sum = 0, scale = 1;
  const auto multiply_in = [&] {
    const float factor = static_cast<float>(scale);
    each_row_weight([factor](std::int64_t, float& w) { w *= factor; });
    for (const Cells& c : cells_)
      for (const std::int64_t index : c.indices) (*c.weights)[index] *= factor;
    oracle_.transitions().sum_levels();
    scale = 1;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const int length = examples_.length(numbers[i]);
    const std::int64_t begin = examples_.begin(numbers[i]);
    const double rate = eta / (1 + decay * eta * (first + static_cast<double>(i)));
    float* nodes = residuals_.need(static_cast<std::size_t>(length) * s.width);
    std::fill(nodes, nodes + static_cast<std::size_t>(length) * s.width, 0.0f);
    float* edges = with_edges ? edge_residuals_.need(length * edge_width) : nullptr;
    if (edges) std::fill(edges, edges + length * edge_width, 0.0f);
    worker.refresh(scale);
    worker.clear();
    sum += worker.add(examples_, numbers[i], examples_.weights ? examples_.weights[numbers[i]] : 1.0, nodes, edges);
    worker.flush();
    scale *= std::max(1 - rate * decay, 1e-3);
    const double step = -rate / scale;
    // Only the columns that are parameters move.
    const auto move = [&](const Features& f, const Columns& columns, const float* residuals, std::int64_t width,
                          auto weight) {
      for (int t = 0; t < length; ++t)
        for (std::int64_t k = f.ptr[begin + t]; k < f.ptr[begin + t + 1]; ++k) {
          const float x = narrowed(step * f.value(k));
          for (std::int64_t e = columns.ptr[f.ids[k]]; e < columns.ptr[f.ids[k] + 1]; ++e) {
            float& w = weight(f.ids[k], columns.columns[e]);
            w = narrowed(w + x * residuals[t * width + columns.columns[e]]);
          }
        }
    };
    const auto sparse = [](SparseRows& of) {
      return [&of](std::int32_t r, std::int32_t c) -> float& { return of.entry(r, c).weight; };
    };
    if (dense) {
      float* weights = dense->weights();
      move(examples_.unigrams, unigrams_, nodes, s.width, [weights, &s](std::int32_t r, std::int32_t c) -> float& {
        return weights[static_cast<std::size_t>(r) * s.width + c];
      });
    } else {
      move(examples_.unigrams, unigrams_, nodes, s.width, sparse(*oracle_.sparse()));
    }
    if (edges) move(examples_.edges, edges_, edges, edge_width, sparse(*oracle_.edges()));
    if (!cells_.empty()) {
      const double* table = worker.table().data();
      const auto histories = by_level(table, false), ends = by_level(table + s.histories * s.width, true);
      std::size_t level[2] = {0, 0};
      for (const Cells& c : cells_) {
        const std::vector<double>& counts = (c.end ? ends : histories)[level[c.end]++];
        for (const std::int64_t index : c.indices)
          (*c.weights)[index] = narrowed((*c.weights)[index] + step * counts[index]);
      }
      oracle_.transitions().sum_levels();
    }
    if (scale < 1e-6) multiply_in();
  }
  multiply_in();
  return sum;
}

}  // namespace margent
