#include "cosegments/gram_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "forest/semiring.hpp"
#include "interruption.hpp"

namespace margent {

namespace {

std::vector<float> to_stored(const std::vector<double>& log_values) {
  std::vector<float> out(log_values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(std::max(log_values[i], stored_log_zero));
  return out;
}

}  // namespace

std::vector<double> from_stored(std::span<const float> log_values) {
  std::vector<double> out(log_values.begin(), log_values.end());
  for (double& value : out)
    if (value <= stored_log_zero / 2) value = log_zero;
  return out;
}

std::int32_t GramCounts::node(std::span<const std::int32_t> gram) {
  if (gram.empty()) return 0;
  const std::int32_t parent = node(gram.first(gram.size() - 1)), graphone = gram.back();
  const std::uint64_t key = mix((static_cast<std::uint64_t>(parent) << 32) | static_cast<std::uint32_t>(graphone));
  const std::int32_t known = table_.size(), found = table_.add(key);
  if (found == known) {
    parent_.push_back(parent);
    graphone_.push_back(graphone);
    depth_.push_back(static_cast<std::int32_t>(gram.size()));
    count_.push_back(0);
    suffix_.push_back(0);
    const std::int32_t suffix = node(gram.subspan(1));
    suffix_[found + 1] = suffix;
  }
  return found + 1;
}

GramModel::GramModel(const GramCounts& counts, std::int32_t n_graphones) : n_graphones_(n_graphones) {
  const std::int32_t n = counts.size();
  const int order = *std::max_element(counts.depth_.begin(), counts.depth_.end());
  std::vector<std::vector<std::int32_t>> by_depth(order + 1);
  for (std::int32_t node = 0; node < n; ++node) by_depth[counts.depth_[node]].push_back(node);
  std::vector<std::int32_t> number(n, 0);
  levels_ = {0, 1};
  begin_.assign(n + 1, 0);
  graphone_.assign(n, -1);
  suffix_.assign(n, 0);
  raw_.assign(n, 0);
  std::vector<std::pair<std::uint64_t, std::int32_t>> sorted;
  for (int k = 1; k <= order; ++k) {
    sorted.clear();
    for (const std::int32_t node : by_depth[k])
      sorted.emplace_back((static_cast<std::uint64_t>(number[counts.parent_[node]]) << 32) |
                              static_cast<std::uint32_t>(counts.graphone_[node]),
                          node);
    std::sort(sorted.begin(), sorted.end());
    std::int32_t next = levels_.back();
    for (const auto& [key, node] : sorted) {
      check_interruption(8);
      number[node] = next;
      graphone_[next] = counts.graphone_[node];
      raw_[next] = counts.count_[node];
      ++begin_[number[counts.parent_[node]] + 1];
      ++next;
    }
    levels_.push_back(next);
  }
  for (std::int32_t node = 1; node < n; ++node) suffix_[number[node]] = number[counts.suffix_[node]];
  // Children come in the order of their parents, and the first child of all is node 1.
  begin_[0] = 1;
  for (std::int32_t node = 0; node < n; ++node) begin_[node + 1] += begin_[node];
  index();
}

GramModel::GramModel(std::int32_t n_graphones, std::vector<std::int32_t> begin, std::vector<std::int32_t> graphone,
                     std::vector<std::int32_t> suffix, std::vector<double> log_p, std::vector<double> backoff)
    : n_graphones_(n_graphones), begin_(std::move(begin)), graphone_(std::move(graphone)), suffix_(std::move(suffix)),
      log_p_(std::move(log_p)), backoff_(std::move(backoff)) {
  levels_ = {0, 1};
  while (levels_.back() < size()) {
    const std::int32_t next =
        begin_[levels_.back()];  // the children of the last level end where those of the next begin
    levels_.push_back(next);
  }
  index();
}

void GramModel::index() {
  log_uniform_ = -std::log(n_graphones_ + 1.0);
  root_.assign(n_graphones_ + 2, not_found);
  for (std::int32_t node = begin_[0]; node < begin_[1]; ++node) root_[graphone_[node]] = node;
  next_.assign(size(), 0);
  for (std::int32_t node = 1; node < size(); ++node)
    next_[node] = begin_[node + 1] > begin_[node] ? node : next_[suffix_[node]];
  const std::int32_t start = root_[n_graphones_ + 1];
  start_ = start == not_found ? 0 : next_[start];
}

std::int32_t GramModel::lower_bound(std::int32_t context, std::int32_t graphone) const {
  std::int32_t low = begin_[context], high = begin_[context + 1];
  while (high - low > 4) {
    const std::int32_t middle = low + (high - low) / 2;
    if (graphone_[middle] < graphone)
      low = middle + 1;
    else
      high = middle;
  }
  while (low < high && graphone_[low] < graphone) ++low;
  return low;
}

void GramModel::estimate(const std::vector<Discounts>& discounts) {
  const std::int32_t n = size();
  count_ = raw_;
  excess_.assign(n, 0);
  for (int k = order(); k >= 1; --k) {
    const Discounts none{0, 0, 0};
    const Discounts& d = k <= static_cast<int>(discounts.size()) ? discounts[k - 1] : none;
    for (std::int32_t node = levels_[k]; node < levels_[k + 1]; ++node) {
      check_interruption(8);
      const double c = count_[node];
      double off = c <= 1   ? d[0]
                   : c >= 3 ? d[2]
                   : c <= 2 ? d[0] + (c - 1) * (d[1] - d[0])
                            : d[1] + (c - 2) * (d[2] - d[1]);
      off = std::min(off, c);
      excess_[node] = c - off;
      if (k > 1) count_[suffix_[node]] += std::min(c, 1.0);
    }
  }
  log_p_.assign(n, log_zero);
  backoff_.assign(n, 0);
  std::vector<double> p(n, 0), rest(n, 1);
  p[0] = 1 / (n_graphones_ + 1.0);
  // From short to long: the suffix of a gram and its parent come before it.
  for (std::int32_t node = 0; node < n; ++node) {
    check_interruption(8 + 64 * (begin_[node + 1] - begin_[node]));
    if (begin_[node + 1] == begin_[node]) continue;
    double total = 0, kept = 0;
    for (std::int32_t child = begin_[node]; child < begin_[node + 1]; ++child) {
      total += count_[child];
      kept += excess_[child];
    }
    if (total > 0) rest[node] = std::max(0.0, (total - kept) / total);
    backoff_[node] = std::log(rest[node]);
    for (std::int32_t child = begin_[node]; child < begin_[node + 1]; ++child) {
      p[child] = (total > 0 ? excess_[child] / total : 0) + rest[node] * p[suffix_[child]];
      log_p_[child] = std::log(p[child]);
    }
  }
}

double GramModel::log_probability(std::span<const std::int32_t> history, std::int32_t graphone) const {
  std::int32_t context = 0, next = 0;
  for (const std::int32_t before : history) {
    step(context, before, &next);
    context = next;
  }
  return step(context, graphone, &next);
}

std::vector<float> GramModel::stored_log_p() const {
  std::vector<float> out = to_stored(log_p_);
  for (std::size_t node = 0; node < out.size(); ++node)
    if (node == 0 || graphone_[node] == n_graphones_ + 1) out[node] = 0;
  return out;
}

std::vector<float> GramModel::stored_backoff() const { return to_stored(backoff_); }

GramModel GramModel::trimmed() const {
  const std::int32_t n = size();
  std::vector<std::uint8_t> kept(n, 0);
  kept[0] = 1;
  for (std::int32_t node = n - 1; node > 0; --node) {  // children come after their parents
    bool needed = kept[node] || excess_[node] > 0 || graphone_[node] == n_graphones_ + 1;
    for (std::int32_t child = begin_[node]; !needed && child < begin_[node + 1]; ++child) needed = kept[child];
    kept[node] = needed;
    if (needed) kept[suffix_[node]] = 1;
  }
  std::vector<std::int32_t> number(n, not_found), begin, graphone, suffix;
  std::vector<double> log_p, backoff;
  std::int32_t next = 0;
  for (std::int32_t node = 0; node < n; ++node)
    if (kept[node]) number[node] = next++;
  std::int32_t child = 1;
  for (std::int32_t node = 0; node < n; ++node) {
    if (!kept[node]) continue;
    begin.push_back(child);
    for (std::int32_t c = begin_[node]; c < begin_[node + 1]; ++c) child += kept[c];
    graphone.push_back(graphone_[node]);
    suffix.push_back(number[suffix_[node]]);
    log_p.push_back(log_p_[node]);
    backoff.push_back(backoff_[node]);
  }
  begin.push_back(child);
  return GramModel(n_graphones_, std::move(begin), std::move(graphone), std::move(suffix), std::move(log_p),
                   std::move(backoff));
}

}  // namespace margent
