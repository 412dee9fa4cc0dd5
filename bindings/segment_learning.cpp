// Bindings of semi-Markov models: their data, their oracle, and prediction for many sequences.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "chain/chain_weights.hpp"
#include "chain/linear_chain.hpp"
#include "examples.hpp"
#include "segments.hpp"
#include "segments/frame_content.hpp"
#include "segments/segment_oracle.hpp"
#include "segments/segment_prediction.hpp"
#include "segments/token_content.hpp"

using namespace margent;

namespace {

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
    check_sequences(sequence_ptr, n_entries(frames));
    shape_ = {n, static_cast<int>(frames.shape(1)), full, components, mean, std::move(bins), std::move(longest)};
    frames_ = {n_entries(sequence_ptr) - 1, sequence_ptr.data(), frames.data()};
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
    tokens_ = {n_entries(sequence_ptr) - 1, sequence_ptr.data(), {}, {}, {}, {}, longest};
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
    check_ptr(ptr, n_entries(ids), "features");
    if (n_entries(ptr) != rows + 1) throw nb::value_error("features: one row for each place");
    check_ids(ids, n_features_, "a feature id is out of range");
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
    if (shortest[l] < 1 || longest[l] < 1) throw nb::value_error("a label should last at least 1");
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
  Flags timed;
  std::optional<Floats> weights;

  GoldSegments checked(const SegmentShape& shape, const SegmentContent& content) const {
    const std::int64_t n = content.n_sequences();
    check_ptr(ptr, n_entries(labels), "segments");
    if (n_entries(ptr) != n + 1 || n_entries(timed) != n || ends.shape(0) != labels.shape(0) ||
        (weights && n_entries(*weights) != n))
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

// The model with given weights on given data, checked; keeps the content that it looks into.
class Prediction {
 public:
  Prediction(const SegmentModel& model, const SegmentData& data, const Floats& weights, double scale = 1)
      : shape_(model.shape), content_(data.content()), weights_(weights), scale_(scale) {
    check_fit(shape_, data);
    if (n_entries(weights) != SegmentLayout(shape_, content_->n_weights()).size)
      throw nb::value_error("weights of the wrong number");
  }
  FrozenSegmentModel model() const { return {shape_, *content_, weights_.data(), scale_}; }
  std::int64_t size() const { return content_->n_sequences(); }
  int length(std::int64_t s) const { return content_->length(s); }
  void check_label(std::int32_t label) const {
    if (label < 0 || label >= shape_.n_labels) throw nb::value_error("a label id is out of range");
  }
  void check_rows(const Ptr& ptr, std::size_t total, const char* what) const {
    check_ptr(ptr, static_cast<std::int64_t>(total), what);
    if (n_entries(ptr) != size() + 1)
      throw nb::value_error((std::string(what) + " of another number of sequences").c_str());
  }

 private:
  const SegmentShape& shape_;
  std::unique_ptr<SegmentContent> content_;
  Floats weights_;
  double scale_;
};

auto model_best(const SegmentModel& model, const SegmentData& data, Floats weights, int threads,
                std::optional<Ptr> forced_ptr, std::optional<Ids> forced) {
  const Prediction prediction(model, data, weights);
  if (forced_ptr.has_value() != forced.has_value()) throw nb::value_error("forced labels need ids and offsets");
  ForcedLabels labels;
  if (forced) {
    prediction.check_rows(*forced_ptr, forced->shape(0), "forced labels");
    for (std::size_t i = 0; i < forced->shape(0); ++i) prediction.check_label(forced->data()[i]);
    labels = {forced_ptr->data(), forced->data()};
  }
  auto found = without_gil([&] { return predict_best(prediction.model(), labels, threads); });
  std::vector<double> values;
  std::vector<std::int64_t> ptr{0};
  std::vector<Segment> segments;
  for (const ScoredSegments& each : found) {
    values.push_back(each.score);
    segments.insert(segments.end(), each.segments.begin(), each.segments.end());
    ptr.push_back(static_cast<std::int64_t>(segments.size()));
  }
  return std::make_tuple(to_numpy(std::move(values)),
                         std::make_tuple(to_numpy(std::move(ptr)), segments_to_numpy(segments)));
}

auto model_scores(const SegmentModel& model, const SegmentData& data, Floats weights, double scale) {
  const Prediction prediction(model, data, weights, scale);
  if (prediction.size() != 1) throw nb::value_error("expected one sequence");
  const std::size_t n = model.shape.n_labels;
  auto found = without_gil([&] { return plain_scores(prediction.model(), 0); });
  const auto table = [](bool there, std::vector<double>& values, std::vector<std::size_t> shape) {
    return there ? std::optional(to_numpy(std::move(values), std::move(shape))) : std::nullopt;
  };
  const std::size_t rows = found.length + 1;
  return std::make_tuple(to_numpy(std::move(found.transitions), {n, n}), to_numpy(std::move(found.start)),
                         to_numpy(std::move(found.end)), to_numpy(std::move(found.durations), {found.longest, n}),
                         table(!found.begins.empty(), found.begins, {rows, n}),
                         table(!found.ends.empty(), found.ends, {rows, n}),
                         table(found.has_segments, found.segments, {found.length, found.longest, n}));
}

nb::list model_k_best(const SegmentModel& model, const SegmentData& data, Floats weights, int k, int threads) {
  if (k < 1) throw nb::value_error("k must be at least 1");
  const Prediction prediction(model, data, weights);
  auto found = without_gil([&] { return predict_k_best(prediction.model(), k, threads); });
  nb::list out;
  for (const auto& answers : found) {
    nb::list each;
    for (const ScoredSegments& answer : answers)
      each.append(std::make_tuple(answer.score, segments_to_numpy(answer.segments)));
    out.append(each);
  }
  return out;
}

auto model_beyond(const SegmentModel& model, const SegmentData& data, Floats weights, double scale, double limit,
                  int threads) {
  const Prediction prediction(model, data, weights, scale);
  return to_numpy(without_gil([&] { return predict_beyond(prediction.model(), limit, threads); }));
}

auto model_marginals(const SegmentModel& model, const SegmentData& data, Floats weights, double scale, int threads,
                     Ptr ptr, SegmentArray segments) {
  const Prediction prediction(model, data, weights, scale);
  prediction.check_rows(ptr, segments.shape(0), "segments");
  if (segments.shape(1) != 3) throw nb::value_error("segments should be rows of begin, end and label");
  for (std::int64_t s = 0; s < prediction.size(); ++s)
    for (std::int64_t i = ptr.data()[s]; i < ptr.data()[s + 1]; ++i) {
      const std::int32_t* row = segments.data() + 3 * i;
      if (row[0] < 0 || row[1] <= row[0] || row[1] > prediction.length(s))
        throw nb::value_error("a segment lies outside its sequence");
      prediction.check_label(row[2]);
    }
  auto found =
      without_gil([&] { return predict_marginals(prediction.model(), {ptr.data(), segments.data()}, threads); });
  const std::size_t labels = model.shape.n_labels, positions = found.labels.size() / labels;
  return std::make_tuple(to_numpy(std::move(found.labels), {positions, labels}), to_numpy(std::move(found.boundaries)),
                         to_numpy(std::move(found.segments)), to_numpy(std::move(found.log_partitions)));
}

}  // namespace

void bind_segment_learning(nb::module_& m) {
  nb::class_<SegmentData>(m, "SegmentData", "The data of sequences, as a semi-Markov model sees them.")
      .def("__len__", [](const SegmentData& data) { return data.content()->n_sequences(); })
      .def_prop_ro("n_weights", [](const SegmentData& data) { return data.content()->n_weights(); })
      .def_prop_ro("longest", &SegmentData::longest, "No segment of these sequences lasts longer.");
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
      .def("beyond", &model_beyond, nb::arg("data"), nb::arg("weights"), nb::arg("scale"), nb::arg("limit"),
           nb::arg("threads"), "Whether the scores of each sequence are made of numbers beyond this.")
      .def("marginals", &model_marginals, nb::arg("data"), nb::arg("weights"), nb::arg("scale"), nb::arg("threads"),
           nb::arg("ptr"), nb::arg("segments"), "(labels, boundaries, probabilities of the given segments, log Z)");

  nb::class_<Gold>(m, "GoldSegments")
      .def(
          "__init__",
          [](Gold* self, Ptr ptr, Ids labels, Ids ends, Flags timed, std::optional<Floats> weights) {
            new (self) Gold{ptr, labels, ends, timed, weights};
          },
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
