// Bindings of semi-Markov models: their data, their oracle, and prediction for many sequences.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "chain/chain_weights.hpp"
#include "chain/linear_chain.hpp"
#include "examples.hpp"
#include "segments.hpp"
#include "segments/frame_content.hpp"
#include "segments/segment_oracle.hpp"
#include "segments/token_content.hpp"

using namespace margent;

namespace {

using Ids = Array<std::int32_t, nb::ndim<1>>;
using Ptr = Array<std::int64_t, nb::ndim<1>>;
using Floats = Array<float, nb::ndim<1>>;

void check_sequences(const Ptr& ptr, std::int64_t total) {
  check_ptr(ptr, total, "sequences");
  for (std::size_t s = 0; s + 1 < ptr.shape(0); ++s)
    if (ptr.data()[s + 1] - ptr.data()[s] > 0x3FFFFFF0) throw nb::value_error("a sequence is too long");
}

// The data of sequences, from which a content can be made for each thread.
class SegmentData {
 public:
  virtual ~SegmentData() = default;
  virtual std::unique_ptr<SegmentContent> content() const = 0;
  virtual int n_labels() const = 0;
  virtual int longest() const = 0;
};

class FrameData final : public SegmentData {
 public:
  FrameData(std::vector<std::int32_t> bins, std::vector<std::int32_t> longest, int components, bool full, bool mean,
            Array<float, nb::ndim<2>> frames, Ptr sequence_ptr)
      : values_(frames), sequence_ptr_(sequence_ptr) {
    const int n = static_cast<int>(bins.size());
    if (n < 1 || longest.size() != bins.size() || components < 1 || components > 255)
      throw nb::value_error("bins and durations are for each label, and components from 1 to 255");
    for (int l = 0; l < n; ++l)
      if (bins[l] < 1 || bins[l] > 1 << 12 || longest[l] < 1 || longest[l] > 1 << 24)
        throw nb::value_error("a label has no bin, or no duration, or too many");
    if (frames.shape(1) < 1 || frames.shape(1) > 4096) throw nb::value_error("a frame has 1 to 4096 values");
    check_sequences(sequence_ptr, static_cast<std::int64_t>(frames.shape(0)));
    shape_ = {n, static_cast<int>(frames.shape(1)), full, components, mean, std::move(bins), std::move(longest)};
    frames_ = {static_cast<std::int64_t>(sequence_ptr.shape(0)) - 1, sequence_ptr.data(), frames.data()};
  }
  std::unique_ptr<SegmentContent> content() const override { return std::make_unique<FrameContent>(shape_, frames_); }
  int n_labels() const override { return shape_.n_labels; }
  int longest() const override { return *std::max_element(shape_.longest.begin(), shape_.longest.end()); }
  const FrameShape& shape() const { return shape_; }

 private:
  Array<float, nb::ndim<2>> values_;
  Ptr sequence_ptr_;
  FrameShape shape_;
  Frames frames_;
};

class TokenData final : public SegmentData {
 public:
  TokenData(int n_labels, std::int64_t n_features, int longest, Ptr sequence_ptr, nb::object inside, nb::object first,
            nb::object last, nb::object whole)
      : n_labels_(n_labels), n_features_(n_features), sequence_ptr_(sequence_ptr) {
    if (n_labels < 1 || longest < 1 || n_features < 0 || n_features > std::numeric_limits<std::int32_t>::max())
      throw nb::value_error("numbers of labels, durations or features that cannot be");
    const std::int64_t n_tokens = sequence_ptr.shape(0) ? sequence_ptr.data()[sequence_ptr.shape(0) - 1] : 0;
    check_sequences(sequence_ptr, n_tokens);
    tokens_ = {static_cast<std::int64_t>(sequence_ptr.shape(0)) - 1, sequence_ptr.data(), {}, {}, {}, {}, longest};
    tokens_.inside = part(inside, n_tokens);
    tokens_.first = part(first, n_tokens);
    tokens_.last = part(last, n_tokens);
    tokens_.whole = part(whole, n_tokens * longest);
  }
  std::unique_ptr<SegmentContent> content() const override {
    return std::make_unique<TokenContent>(n_labels_, n_features_, tokens_);
  }
  int n_labels() const override { return n_labels_; }
  int longest() const override { return tokens_.longest; }

 private:
  // (ids, values or None, offsets), or None.
  Features part(nb::object given, std::int64_t rows) {
    if (given.is_none()) return {};
    const nb::tuple arrays = nb::cast<nb::tuple>(given);
    const Ids ids = nb::cast<Ids>(arrays[0]);
    const Ptr ptr = nb::cast<Ptr>(arrays[2]);
    check_ptr(ptr, static_cast<std::int64_t>(ids.shape(0)), "features");
    if (static_cast<std::int64_t>(ptr.shape(0)) != rows + 1) throw nb::value_error("features: one row for each place");
    for (std::size_t i = 0; i < ids.shape(0); ++i)
      if (ids.data()[i] < 0 || ids.data()[i] >= n_features_) throw nb::value_error("a feature id is out of range");
    Features features{ids.data(), nullptr, ptr.data(), 0};
    ids_.push_back(ids);
    ptrs_.push_back(ptr);
    if (!nb::object(arrays[1]).is_none()) {
      values_.push_back(nb::cast<Floats>(arrays[1]));
      if (values_.back().shape(0) != ids.shape(0)) throw nb::value_error("one value per feature");
      features.values = values_.back().data();
    }
    return features;
  }
  int n_labels_;
  std::int64_t n_features_;
  Ptr sequence_ptr_;
  std::vector<Ids> ids_;
  std::vector<Ptr> ptrs_;
  std::vector<Floats> values_;
  Tokens tokens_;
};

SegmentShape make_shape(int n_labels, std::vector<std::int32_t> shortest, std::vector<std::int32_t> longest,
                        Array<double, nb::ndim<2>> durations, std::optional<Array<std::uint8_t, nb::ndim<2>>> follows,
                        bool learn_transitions) {
  const std::size_t n = n_labels;
  if (n_labels < 1 || shortest.size() != n || longest.size() != n)
    throw nb::value_error("durations are for each label");
  for (std::size_t l = 0; l < n; ++l)
    if (shortest[l] < 1 || longest[l] < shortest[l])
      throw nb::value_error("a label should last at least 1, and at most no less");
  SegmentShape shape{n_labels, std::move(shortest), std::move(longest), static_cast<int>(durations.shape(1)), {},
                     {},       learn_transitions};
  if (static_cast<int>(durations.shape(0)) != shape.most() + 1)
    throw nb::value_error("a row of features for each duration");
  shape.durations.assign(durations.data(), durations.data() + durations.size());
  if (follows) {
    if (follows->shape(0) != n || follows->shape(1) != n) throw nb::value_error("which label may follow which");
    shape.follows.assign(follows->data(), follows->data() + n * n);
  }
  return shape;
}

void check_fit(const SegmentShape& shape, const SegmentData& data) {
  if (data.n_labels() != shape.n_labels) throw nb::value_error("data for another number of labels");
  if (data.longest() < shape.most()) throw nb::value_error("data for shorter durations");
}

// The right segmentations, with the arrays they are views of.
struct Gold {
  Ptr ptr;
  Ids labels, ends;
  Array<std::uint8_t, nb::ndim<1>> timed;
  std::optional<Floats> weights;

  GoldSegments checked(const SegmentShape& shape, const SegmentContent& content) const {
    const std::int64_t n = content.n_sequences();
    check_ptr(ptr, static_cast<std::int64_t>(labels.shape(0)), "segments");
    if (static_cast<std::int64_t>(ptr.shape(0)) != n + 1 || static_cast<std::int64_t>(timed.shape(0)) != n ||
        ends.shape(0) != labels.shape(0) || (weights && static_cast<std::int64_t>(weights->shape(0)) != n))
      throw nb::value_error("segments of another number of sequences");
    for (std::int64_t s = 0; s < n; ++s) {
      std::int32_t end = 0;
      const std::int64_t first = ptr.data()[s], last = ptr.data()[s + 1];
      for (std::int64_t i = first; i < last; ++i) {
        if (labels.data()[i] < 0 || labels.data()[i] >= shape.n_labels)
          throw nb::value_error("a label id is out of range");
        if (timed.data()[s] && ends.data()[i] <= end) throw nb::value_error("ends of segments should rise");
        if (timed.data()[s]) end = ends.data()[i];
      }
      if (timed.data()[s] ? end != content.length(s) : first == last && content.length(s) > 0)
        throw nb::value_error("segments should end where the sequence does");
    }
    return {ptr.data(), labels.data(), ends.data(), timed.data(), weights ? weights->data() : nullptr};
  }
};

// A model with frozen weights.
class SegmentModel {
 public:
  SegmentModel(int n_labels, std::vector<std::int32_t> shortest, std::vector<std::int32_t> longest,
               Array<double, nb::ndim<2>> durations, std::optional<Array<std::uint8_t, nb::ndim<2>>> follows,
               bool learn_transitions)
      : shape(make_shape(n_labels, std::move(shortest), std::move(longest), durations, follows, learn_transitions)) {}
  SegmentShape shape;
};

// Calls work(scores, workspace, scorer, sequence) for every sequence; labels of some may be forced.
template <class Work>
void each_sequence(const SegmentModel& model, const SegmentData& data, const Floats& weights, double scale, int threads,
                   Work work) {
  check_fit(model.shape, data);
  const std::unique_ptr<SegmentContent> content = data.content();
  if (static_cast<std::int64_t>(weights.shape(0)) != SegmentLayout(model.shape, content->n_weights()).size)
    throw nb::value_error("weights of the wrong number");
  struct State {
    State(const SegmentShape& shape, std::unique_ptr<SegmentContent> content) : scorer(shape, std::move(content)) {}
    SegmentScorer scorer;
    SegmentWorkspace workspace;
  };
  nb::gil_scoped_release release;
  const int n_threads =
      static_cast<int>(std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(content->n_sequences(), 1)));
  std::vector<std::unique_ptr<State>> states(n_threads);
  parallel(content->n_sequences(), n_threads, [&](std::size_t thread, std::int64_t s) {
    if (!states[thread]) states[thread] = std::make_unique<State>(model.shape, content->copy());
    State& state = *states[thread];
    work(state.scorer.turn_to(s, weights.data(), scale), state.workspace, s);
  });
}

auto joined(const std::vector<std::vector<Segment>>& found) {
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> flat;
  for (const auto& segments : found) {
    for (const Segment& s : segments) flat.insert(flat.end(), {s.begin, s.end, s.label});
    ptr.push_back(static_cast<std::int64_t>(flat.size() / 3));
  }
  const std::size_t n = flat.size() / 3;
  return std::make_tuple(to_numpy(std::move(ptr)), to_numpy(std::move(flat), {n, 3}));
}

auto model_best(const SegmentModel& model, const SegmentData& data, Floats weights, int threads,
                std::optional<Ptr> forced_ptr, std::optional<Ids> forced) {
  const std::int64_t n = data.content()->n_sequences();
  if (forced_ptr.has_value() != forced.has_value()) throw nb::value_error("forced labels need ids and offsets");
  if (forced) {
    check_ptr(*forced_ptr, static_cast<std::int64_t>(forced->shape(0)), "forced labels");
    if (static_cast<std::int64_t>(forced_ptr->shape(0)) != n + 1)
      throw nb::value_error("forced labels of another number of sequences");
    for (std::size_t i = 0; i < forced->shape(0); ++i)
      if (forced->data()[i] < 0 || forced->data()[i] >= model.shape.n_labels)
        throw nb::value_error("a label id is out of range");
  }
  std::vector<std::vector<Segment>> found(n);
  std::vector<double> values(n);
  each_sequence(model, data, weights, 1, threads,
                [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
                  const std::int64_t first = forced ? forced_ptr->data()[s] : 0,
                                     count = forced ? forced_ptr->data()[s + 1] - first : 0;
                  if (!forced || (count == 0 && scores.length == 0)) {
                    values[s] = segments_best(scores, work, found[s]);
                    return;
                  }
                  values[s] = -std::numeric_limits<double>::infinity();
                  if (count == 0 || scores.length == 0) return;
                  ForcedScores given(scores, forced->data() + first, static_cast<int>(count));
                  values[s] = segments_best(given.scores(), work, found[s]);
                  given.name(found[s]);
                });
  return std::make_tuple(to_numpy(std::move(values)), joined(found));
}

// The scores of the only sequence of the data, as plain arrays: transitions [L][L], start, end [L], durations [R][L],
// begins, ends [T + 1][L] or None, and segments [T][R][L] or None, by begin and duration.
auto model_scores(const SegmentModel& model, const SegmentData& data, Floats weights, double scale) {
  if (data.content()->n_sequences() != 1) throw nb::value_error("expected one sequence");
  const std::size_t n = model.shape.n_labels;
  std::size_t length = 0, most = 0;
  std::vector<double> transitions, start, end, durations, begins, ends, rows;
  bool has_begins = false, has_ends = false, has_rows = false;
  each_sequence(model, data, weights, scale, 1, [&](const SegmentScores& scores, SegmentWorkspace&, std::int64_t) {
    const std::size_t width = scores.width;
    length = scores.length;
    most = std::min<std::size_t>(scores.longest, std::max<std::size_t>(length, 1));
    const auto copied = [&](std::vector<double>& out, const double* from, std::size_t count) {
      out.reserve(count * n);
      for (std::size_t r = 0; r < count; ++r) out.insert(out.end(), from + r * width, from + r * width + n);
    };
    copied(transitions, scores.transitions, n);
    copied(start, scores.start, 1);
    copied(end, scores.end, 1);
    copied(durations, scores.durations + width, most);
    if ((has_begins = scores.begins)) {
      copied(begins, scores.begins, length + 1);
      std::fill(begins.end() - n, begins.end(), 0.0);
    }
    if ((has_ends = scores.ends)) {
      copied(ends, scores.ends, length + 1);
      std::fill(ends.begin(), ends.begin() + n, 0.0);
    }
    if (!(has_rows = scores.rows)) return;
    rows.assign(length * most * n, 0.0);
    for (std::size_t e = 1; e <= length; ++e) {
      const std::size_t count = std::min(e, most);
      const SegmentRows found = scores.rows->at(static_cast<int>(e), static_cast<int>(count));
      for (std::size_t d = 1; found.first && d <= count; ++d)
        for (std::size_t l = 0; l < n; ++l)
          if (std::isfinite(durations[(d - 1) * n + l]))  // of others nothing was worked out
            rows[((e - d) * most + d - 1) * n + l] =
                found.first[static_cast<std::ptrdiff_t>(d - 1) * found.stride + static_cast<std::ptrdiff_t>(l)];
    }
  });
  const auto table = [](bool there, std::vector<double>& values, std::vector<std::size_t> shape) {
    return there ? std::optional(to_numpy(std::move(values), std::move(shape))) : std::nullopt;
  };
  return std::make_tuple(to_numpy(std::move(transitions), {n, n}), to_numpy(std::move(start)), to_numpy(std::move(end)),
                         to_numpy(std::move(durations), {most, n}), table(has_begins, begins, {length + 1, n}),
                         table(has_ends, ends, {length + 1, n}), table(has_rows, rows, {length, most, n}));
}

nb::list model_k_best(const SegmentModel& model, const SegmentData& data, Floats weights, int k, int threads) {
  if (k < 1) throw nb::value_error("k must be at least 1");
  std::vector<std::vector<ScoredSegments>> all(data.content()->n_sequences());
  each_sequence(model, data, weights, 1, threads,
                [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
                  all[s] = segments_k_best(scores, k, work);
                });
  nb::list out;
  for (const auto& answers : all) {
    nb::list each;
    for (const ScoredSegments& answer : answers)
      each.append(std::make_tuple(answer.score, segments_to_numpy(answer.segments)));
    out.append(each);
  }
  return out;
}

// Probabilities of labels [positions][L], of boundaries [positions + sequences], and of the given segments; log Z.
auto model_marginals(const SegmentModel& model, const SegmentData& data, Floats weights, double scale, int threads,
                     Ptr ptr, SegmentArray segments) {
  const std::unique_ptr<SegmentContent> content = data.content();
  const std::int64_t n = content->n_sequences();
  const std::size_t labels = model.shape.n_labels;
  check_ptr(ptr, static_cast<std::int64_t>(segments.shape(0)), "segments");
  if (static_cast<std::int64_t>(ptr.shape(0)) != n + 1 || segments.shape(1) != 3)
    throw nb::value_error("segments of another number of sequences");
  std::vector<std::int64_t> begin(n + 1, 0);
  for (std::int64_t s = 0; s < n; ++s) {
    begin[s + 1] = begin[s] + content->length(s);
    for (std::int64_t i = ptr.data()[s]; i < ptr.data()[s + 1]; ++i) {
      const std::int32_t* row = segments.data() + 3 * i;
      if (row[0] < 0 || row[1] <= row[0] || row[1] > content->length(s) || row[2] < 0 ||
          row[2] >= static_cast<int>(labels))
        throw nb::value_error("a segment that cannot be");
    }
  }
  std::vector<double> nodes(begin[n] * labels), boundaries(begin[n] + n), confidences(segments.shape(0)), log_z(n);
  each_sequence(model, data, weights, scale, threads,
                [&](const SegmentScores& scores, SegmentWorkspace& work, std::int64_t s) {
                  std::vector<double> running((scores.length + 1) * labels);
                  double* ends = boundaries.data() + begin[s] + s;
                  log_z[s] = segments_expectations(
                      scores, work,
                      [&](int from, int to, const double* p) {
                        for (std::size_t l = 0; l < labels; ++l) {
                          ends[to] += p[l];
                          running[from * labels + l] += p[l];
                          running[to * labels + l] -= p[l];
                        }
                        for (std::int64_t i = ptr.data()[s]; i < ptr.data()[s + 1]; ++i) {
                          const std::int32_t* row = segments.data() + 3 * i;
                          if (row[0] == from && row[1] == to) confidences[i] = p[row[2]];
                        }
                      },
                      nullptr, nullptr, nullptr);
                  ends[0] = 1;
                  for (std::size_t i = labels; i < running.size(); ++i) running[i] += running[i - labels];
                  std::copy(running.begin(), running.end() - labels, nodes.begin() + begin[s] * labels);
                });
  const std::size_t positions = begin[n];
  return std::make_tuple(to_numpy(std::move(nodes), {positions, labels}), to_numpy(std::move(boundaries)),
                         to_numpy(std::move(confidences)), to_numpy(std::move(log_z)));
}

}  // namespace

void bind_segment_learning(nb::module_& m) {
  nb::class_<SegmentData>(m, "SegmentData", "The data of sequences, as a semi-Markov model sees them.")
      .def("__len__", [](const SegmentData& data) { return data.content()->n_sequences(); })
      .def_prop_ro("n_weights", [](const SegmentData& data) { return data.content()->n_weights(); });
  nb::class_<FrameData, SegmentData>(m, "FrameData")
      .def(nb::init<std::vector<std::int32_t>, std::vector<std::int32_t>, int, bool, bool, Array<float, nb::ndim<2>>,
                    Ptr>(),
           nb::arg("bins"), nb::arg("longest"), nb::arg("components"), nb::arg("full"), nb::arg("mean"),
           nb::arg("frames"), nb::arg("sequence_ptr"))
      .def_prop_ro(
          "columns",
          [](const FrameData& data) {
            const FrameShape& shape = data.shape();
            const FrameColumns columns(shape);
            const int most = *std::max_element(shape.bins.begin(), shape.bins.end());
            std::vector<std::int32_t> out;
            for (int l = 0; l < shape.n_labels; ++l)
              for (int b = 0; b < most; ++b)
                for (int c = 0; c < shape.components; ++c)
                  out.push_back(b < shape.bins[l] ? columns.column(l, b, c) : -1);
            return std::make_tuple(
                columns.statistics, columns.columns,
                to_numpy(std::move(out), {static_cast<std::size_t>(shape.n_labels), static_cast<std::size_t>(most),
                                          static_cast<std::size_t>(shape.components)}));
          },
          nb::rv_policy::move,
          "(statistics, columns, [label][bin][component]: column of the weights, -1 where there is no such bin)");
  nb::class_<TokenData, SegmentData>(m, "TokenData")
      .def(nb::init<int, std::int64_t, int, Ptr, nb::object, nb::object, nb::object, nb::object>(), nb::arg("n_labels"),
           nb::arg("n_features"), nb::arg("longest"), nb::arg("sequence_ptr"), nb::arg("inside").none(),
           nb::arg("first").none(), nb::arg("last").none(), nb::arg("whole").none());

  nb::class_<SegmentModel>(m, "SegmentModel", "The shape of a semi-Markov model, and prediction with given weights.")
      .def(nb::init<int, std::vector<std::int32_t>, std::vector<std::int32_t>, Array<double, nb::ndim<2>>,
                    std::optional<Array<std::uint8_t, nb::ndim<2>>>, bool>(),
           nb::arg("n_labels"), nb::arg("shortest"), nb::arg("longest"), nb::arg("durations"),
           nb::arg("follows").none(), nb::arg("learn_transitions"))
      .def(
          "layout",
          [](const SegmentModel& model, std::int64_t n_content) {
            const SegmentLayout at(model.shape, n_content);
            return std::make_tuple(at.durations, at.transitions, at.start, at.end, at.size);
          },
          nb::arg("n_content"),
          "Where the weights of durations, transitions, start and end begin, and how many there are.")
      .def("best", &model_best, nb::arg("data"), nb::arg("weights"), nb::arg("threads"),
           nb::arg("forced_ptr").none() = nb::none(), nb::arg("forced").none() = nb::none(),
           "(scores, (offsets, segments))")
      .def("scores", &model_scores, nb::arg("data"), nb::arg("weights"), nb::arg("scale"),
           "(transitions, start, end, durations, begins, ends, segments) of the only sequence of the data")
      .def("k_best", &model_k_best, nb::arg("data"), nb::arg("weights"), nb::arg("k"), nb::arg("threads"))
      .def("marginals", &model_marginals, nb::arg("data"), nb::arg("weights"), nb::arg("scale"), nb::arg("threads"),
           nb::arg("ptr"), nb::arg("segments"), "(labels, boundaries, probabilities of the given segments, log Z)");

  nb::class_<Gold>(m, "GoldSegments")
      .def(
          "__init__",
          [](Gold* self, Ptr ptr, Ids labels, Ids ends, Array<std::uint8_t, nb::ndim<1>> timed,
             std::optional<Floats> weights) { new (self) Gold{ptr, labels, ends, timed, weights}; },
          nb::arg("ptr"), nb::arg("labels"), nb::arg("ends"), nb::arg("timed"), nb::arg("weights").none());
  nb::class_<SegmentOracle, Oracle>(m, "SegmentOracle", "The oracle of a semi-Markov model in training.")
      .def(
          "__init__",
          [](SegmentOracle* self, const SegmentModel& model, const SegmentData& data, const Gold& gold,
             double frame_cost, double boundary_cost, std::vector<double> label_costs) {
            check_fit(model.shape, data);
            if (!label_costs.empty() && label_costs.size() != static_cast<std::size_t>(model.shape.n_labels))
              throw nb::value_error("label_costs of the wrong number");
            std::unique_ptr<SegmentContent> content = data.content();
            const GoldSegments checked = gold.checked(model.shape, *content);
            new (self)
                SegmentOracle(model.shape, std::move(content), checked, {frame_cost, boundary_cost, label_costs});
          },
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::arg("model"), nb::arg("data"), nb::arg("gold"),
          nb::arg("frame_cost") = 1.0, nb::arg("boundary_cost") = 0.0, nb::arg("label_costs") = std::vector<double>())
      .def_prop_ro("structure",
                   [](const SegmentOracle& oracle) {
                     const bool frames = dynamic_cast<const FrameContent*>(&oracle.scorer().content());
                     return frames ? "segments of frames" : "segments of tokens";
                   })
      .def(
          "weights",
          [](SegmentOracle& oracle, bool average) {
            return to_numpy(exported(oracle.weights().data(), oracle.sums().data(), oracle.weights().size(),
                                     oracle.clock(), average));
          },
          nb::arg("average"))
      .def(
          "start_from",
          [](SegmentOracle& oracle, Floats weights) {
            if (weights.shape(0) != oracle.weights().size()) throw nb::value_error("weights of the wrong number");
            std::copy(weights.data(), weights.data() + weights.shape(0), oracle.weights().begin());
          },
          nb::arg("weights"));
}
