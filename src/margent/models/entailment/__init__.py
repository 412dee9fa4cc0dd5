"""`EntailmentClassifier`: pairs of sentences, latent alignment with sparse features, neural composition, model."""
