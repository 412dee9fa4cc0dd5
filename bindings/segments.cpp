// Bindings of segmentations on plain score arrays, for one sequence.
#include "segments.hpp"

#include <algorithm>
#include <optional>

#include "bindings.hpp"
#include "segments/segments.hpp"
#include "simd/kernels.hpp"

using namespace margent;

namespace {

using Matrix = Array<double, nb::ndim<2>>;
using Limits = Array<std::int32_t, nb::ndim<2>>;

// Scores of segments by where they begin: [T][R][width].
class GivenRows final : public SegmentSource {
 public:
  GivenRows(const double* data, int longest, int width) : data_(data), longest_(longest), width_(width) {}
  SegmentRows at(int end, int) override {
    return {data_ + static_cast<std::ptrdiff_t>(end - 1) * longest_ * width_,
            -static_cast<std::ptrdiff_t>(longest_ - 1) * width_};
  }

 private:
  const double* data_;
  int longest_, width_;
};

// Padded arrays of one sequence: transitions [L][width], start and end [width], durations [R + 1][width], begins and
// ends [T + 1][width] or None, rows [T][R][width] or None, limits [T + 1][L] or None.
class GivenSegments {
 public:
  GivenSegments(int n_labels, int length, Matrix transitions, Doubles start, Doubles end, Matrix durations,
                std::optional<Matrix> begins, std::optional<Matrix> ends,
                std::optional<Array<double, nb::ndim<3>>> rows, std::optional<Limits> limits)
      : transitions_(transitions), durations_(durations), start_(start), end_(end), begins_(begins), ends_(ends),
        rows_(rows), limits_(limits) {
    const std::size_t width = n_labels > 0 ? padded_width(n_labels) : 0, n = n_labels, positions = length + 1;
    const auto fits = [&](const Matrix& m, std::size_t rows) { return m.shape(0) == rows && m.shape(1) == width; };
    if (n_labels < 1 || length < 0 || durations.shape(0) < 2 || durations.shape(1) != width || !fits(transitions, n) ||
        start.shape(0) != width || end.shape(0) != width || (begins && !fits(*begins, positions)) ||
        (ends && !fits(*ends, positions)))
      throw nb::value_error("scores of the wrong shape");
    const int longest = static_cast<int>(durations.shape(0)) - 1;
    if (rows && (rows->shape(0) != static_cast<std::size_t>(length) || rows->shape(1) + 1 != durations.shape(0) ||
                 rows->shape(2) != width))
      throw nb::value_error("segment scores of the wrong shape");
    if (limits && (limits->shape(0) != positions || limits->shape(1) != n))
      throw nb::value_error("limits of the wrong shape");
    longest_of_ = longest_durations(durations.data(), longest, static_cast<int>(width));
    scores_ = {n_labels,
               static_cast<int>(width),
               length,
               longest,
               longest_of_.data(),
               transitions.data(),
               start.data(),
               end.data(),
               durations.data(),
               begins ? begins->data() : nullptr,
               ends ? ends->data() : nullptr,
               nullptr};
    if (rows) given_ = std::make_unique<GivenRows>(rows->data(), longest, static_cast<int>(width));
    scores_.rows = given_.get();
    if (limits) {
      limited_ = std::make_unique<LimitedSource>(given_.get(), limits->data(), n_labels, static_cast<int>(width));
      scores_.rows = limited_.get();
    }
  }
  const SegmentScores& scores() const { return scores_; }

 private:
  Matrix transitions_, durations_;
  Doubles start_, end_;
  std::optional<Matrix> begins_, ends_;
  std::optional<Array<double, nb::ndim<3>>> rows_;
  std::optional<Limits> limits_;
  std::vector<std::int32_t> longest_of_;
  std::unique_ptr<SegmentSource> given_, limited_;
  SegmentScores scores_;
};

auto listed(std::vector<double>&& values, std::vector<std::vector<Segment>>& found) {
  nb::list answers;
  for (auto& segments : found) answers.append(segments_to_numpy(segments));
  return std::make_tuple(to_numpy(std::move(values)), answers);
}

}  // namespace

void bind_segments(nb::module_& m) {
  nb::class_<GivenSegments>(m, "SegmentScores")
      .def(nb::init<int, int, Matrix, Doubles, Doubles, Matrix, std::optional<Matrix>, std::optional<Matrix>,
                    std::optional<Array<double, nb::ndim<3>>>, std::optional<Limits>>(),
           nb::arg("n_labels"), nb::arg("length"), nb::arg("transitions"), nb::arg("start"), nb::arg("end"),
           nb::arg("durations"), nb::arg("begins").none(), nb::arg("ends").none(), nb::arg("rows").none(),
           nb::arg("limits").none())
      .def("score",
           [](const GivenSegments& g, SegmentArray array) {
             const std::vector<Segment> segments = segments_from(array, g.scores().length, g.scores().n_labels);
             return segments_score(g.scores(), segments);
           })
      .def("best",
           [](const GivenSegments& g) {
             std::vector<Segment> segments;
             SegmentWorkspace work;
             auto score = without_gil([&] { return segments_best(g.scores(), work, segments); });
             return std::make_tuple(score, segments_to_numpy(segments));
           })
      .def("k_best",
           [](const GivenSegments& g, int k) {
             if (k < 1) throw nb::value_error("k must be at least 1");
             std::vector<double> values;
             std::vector<std::vector<Segment>> found;
             without_gil([&] {
               SegmentWorkspace work;
               for (ScoredSegments& answer : segments_k_best(g.scores(), k, work)) {
                 values.push_back(answer.score);
                 found.push_back(std::move(answer.segments));
               }
             });
             return listed(std::move(values), found);
           })
      .def("log_partition",
           [](const GivenSegments& g) {
             SegmentWorkspace work;
             const WithoutGil released;
             return segments_log_partition(g.scores(), work);
           })
      .def("marginals",
           [](const GivenSegments& g, bool with_segments) {
             const SegmentScores& s = g.scores();
             const std::size_t n = s.length, labels = s.n_labels, longest = s.longest;
             std::vector<double> nodes(n * labels), boundaries(n + 1), all(with_segments ? n * longest * labels : 0);
             const auto visit = [&](int begin, int end, const double* p) {
               if (with_segments) std::copy(p, p + labels, &all[(begin * longest + (end - begin - 1)) * labels]);
             };
             SegmentWorkspace work;
             auto log_z =
                 without_gil([&] { return segments_marginals(s, work, visit, nodes.data(), boundaries.data()); });
             std::optional<Numpy<double>> segment_array;
             if (with_segments) segment_array = to_numpy(std::move(all), {n, longest, labels});
             return std::make_tuple(log_z, to_numpy(std::move(nodes), {n, labels}), to_numpy(std::move(boundaries)),
                                    segment_array);
           })
      .def("sample", [](const GivenSegments& g, int count, std::uint64_t seed) {
        if (count < 0) throw nb::value_error("count must be at least 0");
        std::vector<std::vector<Segment>> found;
        double log_z;
        without_gil([&] {
          SegmentWorkspace work;
          log_z = segments_log_partition(g.scores(), work);
          if (log_z > -std::numeric_limits<double>::infinity()) found = segments_sample(g.scores(), work, seed, count);
        });
        return listed({log_z}, found);
      });
}
