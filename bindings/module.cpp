// The native module. Bindings only: check length, dtype and contiguity, drop the GIL, call.
#include "bindings.hpp"
#include "simd/kernels.hpp"

NB_MODULE(_core, m) {
  // Arrays that outlive the interpreter's last collection are not leaks worth a warning to users.
  nb::set_leak_warnings(false);
  m.doc() = "Native core of Margent. Private: use the public modules.";
  m.def("instruction_set", &margent::instruction_set, "The kernels in use: \"avx2\" or \"portable\".");
  m.def("use_avx2", &margent::use_avx2, nb::arg("wanted"), "For tests and benchmarks: choose the kernels.");
  bind_arcs(m);
  bind_forest(m);
  bind_interruption(m);
  bind_columns(m);
  bind_chain(m);
  bind_features(m);
  bind_k_grams(m);
  bind_learning(m);
  bind_segments(m);
  bind_segment_learning(m);
  bind_likelihood(m);
  bind_tree_learning(m);
  bind_forest_learning(m);
  bind_phrases(m);
  bind_tagging(m);
  bind_cosegments(m);
  bind_reranking(m);
  bind_cosegment_learning(m);
  bind_transitions(m);
  bind_parsing(m);
  bind_meaning(m);
  bind_rule_tables(m);
  bind_translation_search(m);
}
